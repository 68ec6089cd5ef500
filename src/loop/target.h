#pragma once

#include <cstdint>

#include "base/cpu_level.h"
#include "loop/kernel.h"

namespace lucid {

/// The vector registers available to a register tile.
struct Registers {
  int count = 32;
  int bytes = 64;
};

/// What kernels can use where they run. Schedules depend on this, not on the device.
struct TargetTraits {
  Registers registers;
  /// Shared memory of a group; 0 if kernels do not run as groups.
  int64_t shared_bytes = 0;
  /// Bits of the integers that the target computes indices in without emulation.
  int index_bits = 64;
  /// Whether an item runs on one core, in whose cache the stages of a fused kernel exchange values.
  bool has_core_cache = true;

  /// Whether kernels may run as groups.
  bool has_groups() const { return shared_bytes >= int64_t{loop::kMaxSharedBytes}; }
};

/// The traits of a CPU with these vector instructions.
TargetTraits cpu_traits(CpuLevel level = chosen_level());

}  // namespace lucid
