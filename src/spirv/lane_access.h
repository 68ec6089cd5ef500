#pragma once

#include <cstdint>
#include <vector>

#include "loop/kernel.h"

namespace lucid::spirv {

/// How an instruction's access of memory relates to those of other lanes. The lanes of a vector are invocations that
/// run independently, so accesses of one element by different lanes need a barrier between them.
struct LaneAccess {
  /// Accesses of different groups never conflict; 0 if the instruction conflicts with nothing.
  uint32_t group = 0;
  /// Accesses with the same nonzero pattern access any given element from one lane only.
  uint32_t pattern = 0;
};

/// The accesses of a kernel, by instruction. In a group nothing conflicts: its kernel has the barriers that it needs.
std::vector<LaneAccess> lane_accesses(const loop::Kernel& kernel);

}  // namespace lucid::spirv
