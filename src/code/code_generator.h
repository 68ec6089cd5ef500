#pragma once

#include <string>
#include <string_view>

#include "base/cpu_level.h"
#include "code/loaded_code.h"
#include "loop/kernel.h"

namespace lucid {

/// The symbol of a kernel's function in object code. Its prefix distinguishes a kernel named "fma" or "memcpy" from the
/// C library's function.
inline std::string symbol_of(const loop::Kernel& kernel) { return "lucid_" + kernel.name; }

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

}  // namespace lucid
