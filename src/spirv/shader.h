#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loop/kernel.h"

namespace lucid::spirv {

/// The properties of a gpu that the shaders for it depend on.
struct Target {
  /// Whether Fma rounds once. Otherwise fused operations are emulated.
  bool fused_fma32 = true;
  bool fused_fma64 = true;
  /// Whether division and square root are correctly rounded. Otherwise their results are corrected.
  bool exact_divide32 = true;
  bool exact_divide64 = true;
  bool exact_sqrt32 = true;
  bool exact_sqrt64 = true;
  /// Whether shaders replace subnormal results by zero, as our CPU kernels do. Requires a gpu that keeps subnormal
  /// operands.
  bool flush_results = false;
  /// Whether the gpu supports the execution modes RoundingModeRTE and SignedZeroInfNanPreserve, by width.
  bool float_controls32 = true;
  bool float_controls64 = true;
  /// Whether the driver may end loops early: Mesa's software driver does, after 65,535 iterations of all loops of an
  /// invocation. Shaders then report it (PushConstants::fault).
  bool ends_loops_early = false;
  /// The size of subgroups, if shaders may exchange values between their invocations; otherwise 0.
  uint32_t subgroup_size = 0;
  /// Shared memory of a workgroup.
  uint32_t shared_bytes = 32768;

  bool operator==(const Target&) const = default;
};

/// Text that differs for targets whose shaders may differ.
std::string to_string(const Target& target);

/// A compute shader. Lane j of every vector is invocation j of sixteen adjacent ones, a cluster; scalars are computed
/// by all of them. A group of clusters, usually of one, computes `PushConstants::grain` items.
struct Shader {
  /// The SPIR-V module. Its entry point is "main".
  std::vector<uint32_t> words;
  /// The number of clusters in a workgroup.
  uint32_t clusters = 1;
  /// The number of clusters that compute the same items: the members of a group, loop::Kernel::group.
  uint32_t group = 1;
  /// Size of the global memory that each cluster needs as scratch; 0 if it has none, or all in shared memory.
  size_t scratch_bytes = 0;

  bool operator==(const Shader&) const = default;
};

/// The push constants of every shader.
struct PushConstants {
  /// The address of the argument words, 8 bytes each: the address of each buffer, the params, and if
  /// Shader::scratch_bytes is not 0, the address of the scratch memory of all clusters.
  uint64_t arguments;
  /// Items 0 to `items` - 1 are computed: group g computes those from g * `grain` on.
  int64_t items;
  int64_t grain;
  /// The address of a word that a shader sets to 1 if the driver ended a loop early. Used if Target::ends_loops_early.
  uint64_t fault;
};

/// Translates a verified kernel without calls. The same kernel and target always produce the same words.
Shader translate(const loop::Kernel& kernel, const Target& target);

/// The bytes of a shader, for a cache on disk, and the shader of such bytes. parse_shader() throws InternalError if
/// they are malformed; it does not check the words.
std::string to_bytes(const Shader& shader);
Shader parse_shader(std::string_view bytes);

}  // namespace lucid::spirv
