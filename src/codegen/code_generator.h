#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_level.h"
#include "base/ref.h"
#include "loop/kernel.h"

namespace lucid::codegen {

/// Machine code in memory, executable while referenced. Pages are never writable and executable at the same time.
class LoadedCode : public RefCounted {
 public:
  loop::KernelFunction function() const { return function_; }
  size_t code_bytes() const { return code_bytes_; }
  /// Memory in use, including constants.
  size_t memory_bytes() const { return memory_bytes_; }
  /// Size of the scratch memory that each call must be passed.
  size_t scratch_bytes() const { return scratch_bytes_; }

 protected:
  loop::KernelFunction function_ = nullptr;
  size_t code_bytes_ = 0;
  size_t memory_bytes_ = 0;
  size_t scratch_bytes_ = 0;
};

/// The code of a kernel's parts, in order.
using LoadedParts = std::vector<Ref<LoadedCode>>;

/// Compiles kernels to machine code in two steps, so that the object code can be cached on disk.
class CodeGenerator {
 public:
  virtual ~CodeGenerator() = default;
  /// Returns relocatable object code, without the code of the kernel's parts. The same kernel and target always produce
  /// the same bytes.
  virtual std::string compile(const loop::Kernel& kernel, CpuLevel target) = 0;
  /// Makes object code executable and links it to the code of its parts. The symbol shows the kernel's name in perf and
  /// gdb.
  virtual Ref<LoadedCode> load(const loop::Kernel& kernel, std::string_view object, LoadedParts parts = {}) = 0;
  /// Changes whenever the same kernel might produce different object code.
  virtual std::string version() const = 0;
};

/// The LLVM code generator. Thread safe: several threads may compile at once.
std::unique_ptr<CodeGenerator> make_llvm_generator();

}  // namespace lucid::codegen
