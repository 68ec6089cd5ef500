#include "base/cpu_level.h"

#include "base/error.h"
#include "base/options.h"

namespace lucid {
namespace {

CpuLevel detect_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return CpuLevel::kAvx512;
  if (__builtin_cpu_supports("x86-64-v3")) return CpuLevel::kAvx2;
#endif
  return CpuLevel::kScalar;
}

}  // namespace

std::string_view name_of(CpuLevel level) {
  switch (level) {
    case CpuLevel::kScalar:
      return "scalar";
    case CpuLevel::kAvx2:
      return "avx2";
    case CpuLevel::kAvx512:
      return "avx512";
  }
  throw InternalError("no CPU level numbered {}", static_cast<int>(level));
}

CpuLevel host_level() {
  static const CpuLevel level = detect_level();
  return level;
}

CpuLevel chosen_level() {
  const CpuLevel level = options().target.value_or(host_level());
  if (level > host_level()) {
    throw ValueError("LUCID_TARGET is {}, but this machine supports {} at most; unset it or choose a lower one",
                     name_of(level), name_of(host_level()));
  }
  return level;
}

}  // namespace lucid
