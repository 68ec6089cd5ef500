#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "codegen/code_generator.h"
#include "codegen/debuggers.h"

namespace lucid::codegen {

/// Links object code into memory of this process (code_memory.h), which is freed with the code's last reference.
class Loader {
 public:
  Loader();
  /// Throws InternalError for what is no object code or has no such symbol, MemoryError when there is no memory for it,
  /// and RuntimeError when the system allows no executable memory. Safe to call from several threads.
  Ref<LoadedCode> load(const std::string& symbol, std::string_view object, LoadedParts parts, size_t scratch_bytes);

 private:
  DebuggerOptions debuggers_;
};

}  // namespace lucid::codegen
