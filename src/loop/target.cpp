#include "loop/target.h"

#include "base/error.h"

namespace lucid {

TargetTraits cpu_traits(CpuLevel level) {
  switch (level) {
    case CpuLevel::kScalar:
      return {.registers = {.count = 16, .bytes = 16}};
    case CpuLevel::kAvx2:
      return {.registers = {.count = 16, .bytes = 32}};
    case CpuLevel::kAvx512:
      return {.registers = {.count = 32, .bytes = 64}};
  }
  throw InternalError("unknown CPU level {}", static_cast<int>(level));
}

}  // namespace lucid
