#pragma once

#include "bindings/errors.h"
#include "jit/program.h"

namespace lucid::python {

/// The contents of Python's `_core.Program`.
struct ProgramHandle {
  Ref<jit::Program> program;
};

/// Graphs, recordings, programs and compiled callables, for lucid.compiler.
void bind_jit(nb::module_& module);
/// Programs in files.
void bind_program(nb::module_& module);

}  // namespace lucid::python
