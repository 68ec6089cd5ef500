#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/cpu_level.h"

namespace lucid::test {

/// The CPU levels that this machine runs, lowest first. When it does not run all of them, the first call says which
/// ones the tests leave out.
inline const std::vector<CpuLevel>& runnable_levels() {
  static const std::vector<CpuLevel> levels = [] {
    std::vector<CpuLevel> runnable;
    for (CpuLevel level : {CpuLevel::kScalar, CpuLevel::kAvx2, CpuLevel::kAvx512}) {
      if (level <= host_level())
        runnable.push_back(level);
      else
        std::fprintf(stderr, "NOT TESTED: code for %s, which this machine does not run\n",
                     std::string(name_of(level)).c_str());
    }
    return runnable;
  }();
  return levels;
}

/// Those that can be compared with the level in use, which would only be compared with itself.
inline std::vector<CpuLevel> other_levels() {
  std::vector<CpuLevel> levels = runnable_levels();
  std::erase(levels, chosen_level());
  return levels;
}

}  // namespace lucid::test
