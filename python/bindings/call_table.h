#pragma once

#include "bindings/errors.h"
#include "jit/program.h"

namespace lucid::python {

/// What Python's `_core.Program` holds.
struct ProgramHandle {
  Ref<jit::Program> program;
};

/// `_core.CallTable`: a callable that runs a plan where one fits, and asks Python otherwise.
void bind_call_table(nb::module_& module);

}  // namespace lucid::python
