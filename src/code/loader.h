#pragma once

#include <string>
#include <string_view>

#include "code/debuggers.h"
#include "code/loaded_code.h"

namespace lucid {

/// The symbol by which a kernel's object code refers to one of its parts.
std::string part_symbol(size_t part);

/// Links object code into executable memory (code_memory.h), which is freed with the last reference to the code.
class Loader {
 public:
  Loader();
  /// Throws InternalError if the object code is malformed or lacks the symbol, MemoryError if there is not enough
  /// memory, and RuntimeError if the system forbids executable memory. Thread safe.
  Ref<LoadedCode> load(const std::string& symbol, std::string_view object, LoadedParts parts, size_t scratch_bytes);

 private:
  DebuggerOptions debuggers_;
};

}  // namespace lucid
