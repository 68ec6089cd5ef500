#include "base/number_trace.h"

#include <gtest/gtest.h>

namespace lucid {
namespace {

/// The values of traced numbers for other arguments; empty if the recorded code would have done something else.
std::vector<double> values(const NumberTrace& trace, const std::vector<Number>& arguments,
                           const std::vector<Number>& wanted) {
  std::vector<uint32_t> ids;
  for (const Number& number : wanted) ids.push_back(number.traced());
  std::vector<double> result;
  for (const Scalar& scalar : trace.evaluate(arguments, ids).value_or(std::vector<Scalar>()))
    result.push_back(scalar.to_double());
  return result;
}

TEST(NumberTrace, ComputesFromOtherArguments) {
  NumberTrace trace;
  const Number a = trace.add_argument(3, 0), b = trace.add_argument(0.5, 1);
  const NumberTrace::Scope scope(&trace);
  const Number c = (a / 2 + 1) * -b, d = 10 - a;
  EXPECT_EQ(values(trace, {3, 0.5}, {c, d}), (std::vector<double>{-1, 7}));
  EXPECT_EQ(values(trace, {9, 2.0}, {c, d, b}), (std::vector<double>{-10, 1, 2}));
  EXPECT_FALSE(trace.is_read(0) || trace.is_read(1));
  EXPECT_TRUE(trace.is_read(2));
}

TEST(NumberTrace, ComparisonsMustHaveTheirOutcome) {
  NumberTrace trace;
  const Number a = trace.add_argument(3, 0);
  {
    const NumberTrace::Scope scope(&trace);
    EXPECT_TRUE(a * 2 > 4);
    EXPECT_FALSE(a == 4);
  }
  EXPECT_EQ(values(trace, {5}, {a}), std::vector<double>{5});
  EXPECT_TRUE(values(trace, {2}, {a}).empty());
  EXPECT_TRUE(values(trace, {4}, {a}).empty());
  // Not part of the recording.
  EXPECT_TRUE(a < 4);
  EXPECT_EQ(values(trace, {7}, {a}), std::vector<double>{7});
}

TEST(NumberTrace, NumbersThatAreReadMustHaveTheirValue) {
  NumberTrace trace;
  const Number a = trace.add_argument(0.0, 0), b = trace.add_argument(7, 1);
  const NumberTrace::Scope scope(&trace);
  EXPECT_EQ(static_cast<double>(a), 0);
  EXPECT_EQ(static_cast<int>(b / 2), 3);
  EXPECT_TRUE(trace.is_read(0));
  EXPECT_FALSE(trace.is_read(1));
  EXPECT_EQ(values(trace, {0.0, 6}, {b}), std::vector<double>{6});
  EXPECT_TRUE(values(trace, {0.0, 8}, {b}).empty());
  EXPECT_TRUE(values(trace, {-0.0, 6}, {b}).empty());
  EXPECT_TRUE(values(trace, {0, 6}, {b}).empty());
}

TEST(NumberTrace, ADivisionByZeroIsAnotherWay) {
  NumberTrace trace;
  const Number a = trace.add_argument(3, 0);
  const NumberTrace::Scope scope(&trace);
  const Number b = 12 / a;
  EXPECT_EQ(values(trace, {5}, {b}), std::vector<double>{2});
  EXPECT_TRUE(values(trace, {0}, {b}).empty());
}

TEST(NumberTrace, LongComputationsReadTheirNumbers) {
  NumberTrace trace;
  Number sum = trace.add_argument(1, 0);
  const NumberTrace::Scope scope(&trace);
  for (int i = 0; i < 5000; ++i) sum += 1;
  EXPECT_EQ(static_cast<int>(sum), 5001);
  EXPECT_EQ(trace.evaluate(std::vector<Number>{1}, {}).has_value(), true);
  EXPECT_EQ(trace.evaluate(std::vector<Number>{2}, {}).has_value(), false);
}

TEST(NumberTrace, NumbersOfOtherRecordingsArePlain) {
  NumberTrace other, trace;
  const Number before = other.add_argument(4, 0), a = trace.add_argument(3, 0);
  EXPECT_FALSE(trace.has(before.traced()) || other.has(a.traced()));
  const NumberTrace::Scope scope(&trace);
  const Number sum = a + before;
  EXPECT_EQ((before + 1).traced(), 0u);
  EXPECT_EQ(values(trace, {10}, {sum}), std::vector<double>{14});
}

}  // namespace
}  // namespace lucid
