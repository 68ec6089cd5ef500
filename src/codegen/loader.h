#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "codegen/code_generator.h"
#include "codegen/debuggers.h"

namespace llvm::jitlink {
class InProcessMemoryManager;
}
namespace llvm::orc {
class SymbolStringPool;
}

namespace lucid::codegen {

/// Links object code into memory of this process. Each kernel has pages of its own, freed with its last reference.
class Loader {
 public:
  Loader();
  ~Loader();
  /// Throws InternalError for what is no object code or has no such symbol. Safe to call from several threads.
  Ref<LoadedCode> load(const std::string& symbol, std::string_view object, LoadedParts parts);

 private:
  // Shared with the loaded code, which may outlive the loader.
  std::shared_ptr<llvm::jitlink::InProcessMemoryManager> memory_;
  std::shared_ptr<llvm::orc::SymbolStringPool> names_;
  DebuggerOptions debuggers_;
};

}  // namespace lucid::codegen
