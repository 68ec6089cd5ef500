#pragma once

#include "loop/target.h"

namespace lucid::test {

/// The traits of a gpu, for schedules that no gpu runs.
inline constexpr TargetTraits kGpuTraits = {
    .shared_bytes = loop::kMaxSharedBytes, .index_bits = 32, .has_core_cache = false};

}  // namespace lucid::test
