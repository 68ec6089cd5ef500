#pragma once

#include <array>
#include <cstdint>

#include "ir/host_call.h"
#include "loop/builder.h"

/// Philox4x32-10, a counter-based random number generator. It maps a 128-bit counter and a 64-bit key to 128 random
/// bits. Here the key is the seed, and the counter is the index of an element among all that were sampled since the
/// generator was seeded.
namespace lucid::philox {

inline constexpr uint32_t kMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
inline constexpr uint32_t kKeySteps[2] = {0x9E3779B9, 0xBB67AE85};
inline constexpr int kRounds = 10;

/// The four random words for this counter of the generator with this seed.
inline std::array<uint32_t, 4> words(uint64_t seed, uint64_t counter) {
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  uint32_t key[2] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t first = uint64_t{kMultipliers[0]} * c[0];
    const uint64_t second = uint64_t{kMultipliers[1]} * c[2];
    c = {static_cast<uint32_t>(second >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(second),
         static_cast<uint32_t>(first >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += kKeySteps[0];
    key[1] += kKeySteps[1];
  }
  return c;
}

/// The same in the loop language. The arguments are i64 values; the results are four i64 values below 2^32.
std::array<loop::Value, 4> words(loop::Value seed, loop::Value counter);

/// 64 bits from two words.
inline uint64_t joined(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }
loop::Value joined(loop::Value high, loop::Value low);

/// The uniform number in [0, 1) whose binary fraction is the top 53 bits of the first two words.
inline double unit(const std::array<uint32_t, 4>& w) { return static_cast<double>(joined(w[0], w[1]) >> 11) * 0x1p-53; }

/// The high 64 bits of the 128-bit product of two unsigned numbers. Scales 64 random bits to a range.
uint64_t multiply_high(uint64_t x, uint64_t y);
loop::Value multiply_high(loop::Value x, loop::Value y);

/// Throws TypeError unless operand 0 is the state of a generator, i64[2].
void check_state(const Call& call);
/// The random words of element i of the result of a random op.
inline std::array<uint32_t, 4> reference_words(const HostCall& call, int64_t i) {
  const auto* state = call.in(0).as<uint64_t>();
  return words(state[0], state[1] + static_cast<uint64_t>(i));
}

}  // namespace lucid::philox
