#pragma once

#include <optional>

#include "bindings/errors.h"
#include "jit/program.h"

namespace lucid::python {

/// The contents of Python's `_core.RecordedCall`.
struct RecordedCallHandle {
  /// Empty once a program has been made of it.
  std::optional<jit::RecordedCall> call;
};

/// Makes a program of a recorded call, which is empty afterwards. Throws RuntimeError if it was empty before.
Ref<jit::Program> take_program(RecordedCallHandle& handle);

void bind_recorded_call(nb::module_& module);

}  // namespace lucid::python
