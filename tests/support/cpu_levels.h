#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/cpu_level.h"

namespace lucid::test {

/// The CPU levels that this machine supports, lowest first. If it does not support all of them, the first call prints
/// which ones are not tested.
inline const std::vector<CpuLevel>& runnable_levels() {
  static const std::vector<CpuLevel> levels = [] {
    std::vector<CpuLevel> runnable;
    for (CpuLevel level : {CpuLevel::kScalar, CpuLevel::kAvx2, CpuLevel::kAvx512}) {
      if (level <= host_level())
        runnable.push_back(level);
      else
        std::fprintf(stderr, "NOT TESTED: code for %s, which this machine does not support\n",
                     std::string(name_of(level)).c_str());
    }
    return runnable;
  }();
  return levels;
}

/// The supported levels other than the one in use, to compare with it.
inline std::vector<CpuLevel> other_levels() {
  std::vector<CpuLevel> levels = runnable_levels();
  std::erase(levels, chosen_level());
  return levels;
}

}  // namespace lucid::test
