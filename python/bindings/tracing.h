#pragma once

#include "bindings/errors.h"
#include "jit/tracing_context.h"

namespace lucid::python {

/// "example.py:4" of the innermost frame outside the package.
std::string source_of_user();

/// The contents of Python's `_core.Tracing`: a recording of the ops of this thread, from construction to stop().
struct PythonTracing {
  jit::TracingContext context{source_of_user};
  bool reads_values() const { return !context.trace().guards.empty(); }
};

/// The tensors of a sequence. Throws TypeError for other objects.
std::vector<TensorRef> tensors_in(nb::handle sequence);

/// `_core.Tracing` and the function that turns it into a program.
void bind_tracing(nb::module_& module);

}  // namespace lucid::python
