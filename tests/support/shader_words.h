#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "spirv/shader.h"

// Reads SPIR-V modules. The numbers are those of the specification; only src/spirv includes its headers.
namespace lucid::test {

inline constexpr uint32_t kOpExtInst = 12, kOpExecutionMode = 16, kOpCapability = 17, kOpFunction = 54, kOpStore = 62,
                          kOpDecorate = 71, kOpFConvert = 115, kOpBitcast = 124, kOpFAdd = 129, kOpFSub = 131,
                          kOpFMul = 133, kOpFDiv = 136, kOpBitwiseXor = 198, kOpControlBarrier = 224, kOpShuffle = 345;
inline constexpr uint32_t kGlslFma = 50;
inline constexpr uint32_t kNoContraction = 42;
inline constexpr uint32_t kSignedZeroInfNanPreserveMode = 4461, kRoundingModeRteMode = 4462;

enum Capability : uint32_t {
  kShader = 1,
  kFloat64 = 10,
  kInt64 = 11,
  kInt16 = 22,
  kInt8 = 39,
  kGroupNonUniform = 61,
  kGroupNonUniformBallot = 64,
  kGroupNonUniformShuffle = 65,
  kStorageBuffer16BitAccess = 4433,
  kStorageBuffer8BitAccess = 4448,
  kSignedZeroInfNanPreserve = 4466,
  kRoundingModeRte = 4467,
  kVulkanMemoryModel = 5345,
  kPhysicalStorageBufferAddresses = 5347,
};

struct SpirvInstruction {
  uint32_t op;
  std::vector<uint32_t> operands;
};

inline std::vector<SpirvInstruction> instructions_of(const spirv::Shader& shader) {
  constexpr size_t kHeaderWords = 5;
  std::vector<SpirvInstruction> instructions;
  for (size_t at = kHeaderWords; at < shader.words.size();) {
    const size_t count = std::max<size_t>(shader.words[at] >> 16, 1);
    const auto first = shader.words.begin() + static_cast<std::ptrdiff_t>(at);
    instructions.push_back({shader.words[at] & 0xffff, {first + 1, first + static_cast<std::ptrdiff_t>(count)}});
    at += count;
  }
  return instructions;
}

inline size_t count_of(const spirv::Shader& shader, uint32_t op) {
  const auto instructions = instructions_of(shader);
  return static_cast<size_t>(
      std::count_if(instructions.begin(), instructions.end(), [&](const auto& x) { return x.op == op; }));
}

inline std::set<uint32_t> capabilities_of(const spirv::Shader& shader) {
  std::set<uint32_t> found;
  for (const SpirvInstruction& x : instructions_of(shader)) {
    if (x.op == kOpCapability) found.insert(x.operands[0]);
  }
  return found;
}

}  // namespace lucid::test
