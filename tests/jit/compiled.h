#pragma once

#include <optional>
#include <string>

#include "jit/program.h"

namespace lucid::jit {

/// The program of a recorded call, compiled on this thread; null if there is none. `obstacle` says why.
inline Ref<Program> compiled(std::optional<RecordedCall> call, std::string& obstacle) {
  if (!call) return nullptr;
  auto program = make_ref<Program>(std::move(*call));
  obstacle = program->compile_now();
  return obstacle.empty() ? program : nullptr;
}

}  // namespace lucid::jit
