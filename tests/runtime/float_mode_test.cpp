#include "runtime/float_mode.h"

#include <gtest/gtest.h>

#include <limits>

namespace lucid {
namespace {

constexpr unsigned kDenormalsAreZero = 0x40, kRoundUp = 0x4000, kTrapOnInvalid = 0x80;

// Not inlined, and with volatile variables, so that the compiler cannot move the computation.
__attribute__((noinline)) float halved(float value) {
  volatile float input = value;
  volatile float result = input * 0.5f;
  return result;
}

constexpr float kSmallestNormal = std::numeric_limits<float>::min();
constexpr float kSubnormal = kSmallestNormal / 4;

TEST(FloatMode, FlushesResultsButReadsSubnormalOperands) {
  EXPECT_GT(halved(kSmallestNormal), 0.0f);
  const FloatModeScope scope;
  EXPECT_EQ(halved(kSmallestNormal), 0.0f);
  volatile float tiny = kSubnormal;
  volatile float large = tiny * 0x1p100f;
  EXPECT_GT(large, 0.0f);
}

TEST(FloatMode, CanPreserveSubnormalResults) {
  set_flush_denormal(false);
  EXPECT_FALSE(flush_denormal());
  {
    const FloatModeScope scope;
    EXPECT_GT(halved(kSmallestNormal), 0.0f);
  }
  set_flush_denormal(true);
  EXPECT_TRUE(flush_denormal());
}

TEST(FloatMode, ReplacesTheWholeWordAndRestoresIt) {
  const unsigned saved = _mm_getcsr();
  for (unsigned foreign : {0x1f80u, 0x1f80u | kRoundUp, 0x1f80u | kDenormalsAreZero, 0x1f80u & ~kTrapOnInvalid}) {
    _mm_setcsr(foreign);
    {
      const FloatModeScope scope;
      EXPECT_EQ(current_float_mode(), 0x9f80u);
      {
        const FloatModeScope nested;
        EXPECT_EQ(current_float_mode(), 0x9f80u);
      }
      EXPECT_EQ(current_float_mode(), 0x9f80u);
    }
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, foreign);
  }
  _mm_setcsr(saved);
}

TEST(FloatMode, SetsAGivenWord) {
  const uint32_t before = current_float_mode();
  {
    const FloatModeScope scope(0x1f80u | kRoundUp);
    EXPECT_EQ(current_float_mode(), 0x1f80u | kRoundUp);
  }
  EXPECT_EQ(current_float_mode(), before);
}

}  // namespace
}  // namespace lucid
