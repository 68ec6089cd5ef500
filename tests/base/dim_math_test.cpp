#include "base/dim_math.h"

#include <gtest/gtest.h>

#include "base/size_trace.h"

namespace lucid {
namespace {

TEST(DimMath, ComputesWithPlainNumbers) {
  EXPECT_EQ(ceil_div(16, 16), 1);
  EXPECT_EQ(ceil_div(17, 16), 2);
  EXPECT_EQ(bit_ceil(0), 1);
  EXPECT_EQ(bit_ceil(17), 32);
  EXPECT_EQ(bit_ceil(32), 32);
  EXPECT_TRUE(is_multiple(12, 4));
  EXPECT_FALSE(is_multiple(12, 5));
  EXPECT_EQ(common_divisor(12, 18), 6);
}

TEST(DimMath, DividesTracedNumbersOnlyIfThatIsRightForAllSizes) {
  SizeTrace trace;
  const SymInt s = trace.add_symbol(12), t = trace.add_symbol(6);
  const SizeTrace::Scope scope(&trace);
  EXPECT_TRUE(is_multiple(s * 8, 4));
  EXPECT_TRUE(is_multiple(s * t, s));
  EXPECT_FALSE(is_multiple(s, 4));
  EXPECT_FALSE(is_multiple(s, t));
  EXPECT_EQ(common_divisor(s * t, t).expression(), t.expression());
  EXPECT_EQ(common_divisor(s, s * 8).expression(), s.expression());
  EXPECT_EQ(common_divisor(s, t), 1);
  EXPECT_TRUE(trace.conditions().empty());
}

TEST(DimMath, NotesThatAPowerOfTwoIsNotLess) {
  SizeTrace trace;
  const SymInt s = trace.add_symbol(12);
  {
    const SizeTrace::Scope scope(&trace);
    EXPECT_EQ(bit_ceil(s + 1), 16);
  }
  for (const int64_t size : {2, 12, 15}) EXPECT_TRUE(SizeTrace::Evaluation::of(trace, {{size}})) << size;
  EXPECT_FALSE(SizeTrace::Evaluation::of(trace, {{16}}));
}

}  // namespace
}  // namespace lucid
