#pragma once

#include <cstdint>
#include <string_view>

namespace lucid {

/// The vector instructions that kernels are generated for. Results have the same bits at every level.
enum class CpuLevel : uint8_t { kScalar, kAvx2, kAvx512 };

std::string_view name_of(CpuLevel level);

/// The best level that this machine runs.
CpuLevel host_level();
/// The level that options() name, or else the best. Throws ValueError when this machine does not run the named one.
CpuLevel chosen_level();

}  // namespace lucid
