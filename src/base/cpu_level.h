#pragma once

#include <cstdint>
#include <string_view>

namespace lucid {

/// The vector instructions that kernels are generated for. Results have the same bits at every level.
enum class CpuLevel : uint8_t { kScalar, kAvx2, kAvx512 };

std::string_view name_of(CpuLevel level);

/// The highest level that this machine supports.
CpuLevel host_level();
/// The level in options(), or by default the highest. Throws ValueError if this machine does not support it.
CpuLevel chosen_level();

}  // namespace lucid
