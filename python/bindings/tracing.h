#pragma once

#include "bindings/errors.h"
#include "jit/tracing_context.h"

namespace lucid::python {

/// "example.py:4" of the innermost frame outside the package.
std::string source_of_user();

/// What Python's `_core.Tracing` holds: a recording of what this thread does, from its making to stop().
struct PythonTracing {
  jit::TracingContext context{source_of_user};
};

/// Throws TypeError for anything but tensors.
std::vector<TensorRef> tensors_in(nb::handle sequence);

/// `_core.Tracing` and what makes a program of it.
void bind_tracing(nb::module_& module);

}  // namespace lucid::python
