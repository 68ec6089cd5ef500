#pragma once

#include "bindings/errors.h"
#include "jit/program.h"

namespace lucid::python {

/// What Python's `_core.Program` holds.
struct ProgramHandle {
  Ref<jit::Program> program;
};

/// What lucid.compiler records calls with and runs instead of them.
void bind_jit(nb::module_& module);

}  // namespace lucid::python
