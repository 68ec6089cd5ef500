#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_level.h"
#include "base/ref.h"
#include "loop/kernel.h"

namespace lucid::codegen {

/// Machine code in memory, executable while referenced. Pages are never writable and executable at once.
class LoadedCode : public RefCounted {
 public:
  loop::KernelFunction function() const { return function_; }
  size_t code_bytes() const { return code_bytes_; }
  /// What it takes of memory, constants included.
  size_t memory_bytes() const { return memory_bytes_; }
  /// How much memory each call must be given for scratch.
  size_t scratch_bytes() const { return scratch_bytes_; }

 protected:
  loop::KernelFunction function_ = nullptr;
  size_t code_bytes_ = 0;
  size_t memory_bytes_ = 0;
  size_t scratch_bytes_ = 0;
};

/// The code of a kernel's parts, in their order.
using LoadedParts = std::vector<Ref<LoadedCode>>;

/// Turns kernels into machine code in two steps, so that the object code between them can be kept on disk.
class CodeGenerator {
 public:
  virtual ~CodeGenerator() = default;
  /// Relocatable object code, without that of the kernel's parts; the same kernel and target always give the same
  /// bytes.
  virtual std::string compile(const loop::Kernel& kernel, CpuLevel target) = 0;
  /// Makes object code executable, calling the code of its parts. The symbol shows the kernel's name to perf and gdb.
  virtual Ref<LoadedCode> load(const loop::Kernel& kernel, std::string_view object, LoadedParts parts = {}) = 0;
  /// Changes whenever the same kernel might give other object code.
  virtual std::string version() const = 0;
};

/// The LLVM code generator. Thread safe: several threads may compile at once.
std::unique_ptr<CodeGenerator> make_llvm_generator();

}  // namespace lucid::codegen
