#include "base/size_formula.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/size_trace.h"

namespace lucid {
namespace {

std::optional<int64_t> value(const std::string& text, std::vector<int64_t> sizes) {
  return SizeFormula(text, sizes.size()).evaluate(sizes);
}

TEST(SizeFormula, EvaluatesWhatTracesWrite) {
  EXPECT_EQ(value("12", {}), 12);
  EXPECT_EQ(value("-12", {}), -12);
  EXPECT_EQ(value("s0*64+1", {3}), 193);
  EXPECT_EQ(value("-s0*s1-5", {3, 4}), -17);
  EXPECT_EQ(value("((s0+7)/8)*8", {9}), 16);
  EXPECT_EQ(value("(s0%(s1+1))+2", {17, 4}), 4);
  EXPECT_EQ(value("s0*s0*2", {5}), 50);
}

TEST(SizeFormula, AgreesWithTheTrace) {
  SizeTrace trace;
  const SymInt a = trace.add_symbol(12), b = trace.add_symbol(5);
  const SizeTrace::Scope scope(&trace);
  const SymInt numbers[] = {a * b - 3, (a + 7) / 4 * b, a % b + a * a, -a, a / b % 3};
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{12, 5}, {9, 2}, {100, 33}}) {
    const auto evaluation = SizeTrace::Evaluation::of(trace, sizes);
    ASSERT_TRUE(evaluation);
    for (const SymInt number : numbers)
      EXPECT_EQ(value(trace.text(number), sizes), (*evaluation)(number).unguarded()) << trace.text(number);
  }
}

TEST(SizeFormula, NumbersThatDoNotFitAreEmpty) {
  constexpr int64_t kLarge = int64_t{1} << 62;
  EXPECT_EQ(value("s0*4", {kLarge}), std::nullopt);
  EXPECT_EQ(value("s0+s0", {kLarge}), std::nullopt);
  EXPECT_EQ(value("(s0/s1)", {4, 0}), std::nullopt);
  EXPECT_EQ(value("(s0%s1)", {INT64_MIN, -1}), std::nullopt);
}

TEST(SizeFormula, RejectsOtherTexts) {
  for (const char* text : {"", "s", "s1", "s-1", "s0+", "(s0", "s0)", "s0 + 1", "x", "9223372036854775808", "s0/2",
                           "(s0/2/3)", "1e3", "s00000000000000000000001"})
    EXPECT_THROW(SizeFormula(text, 1), ValueError) << text;
  EXPECT_THROW(SizeFormula(std::string(100, '(') + "s0" + std::string(100, ')'), 1), ValueError);
}

TEST(SizeFormula, ConditionsHoldOrNot) {
  const auto holds = [](const std::string& text, int64_t size) {
    return SizeCondition(text, 1).holds(std::vector<int64_t>{size});
  };
  EXPECT_TRUE(holds("s0-128 < 0", 127));
  EXPECT_FALSE(holds("s0-128 < 0", 128));
  EXPECT_TRUE(holds("s0-128 >= 0", 128));
  EXPECT_TRUE(holds("(s0%2) == 0", 4));
  EXPECT_TRUE(holds("(s0%2) != 0", 5));
  EXPECT_FALSE(holds("s0*9223372036854775807 >= 0", 3));  // it cannot be evaluated
  for (const char* text : {"s0", "s0 < 1", "s0 > 0", " < 0", "s1 == 0"})
    EXPECT_THROW(SizeCondition(text, 1), ValueError) << text;
}

}  // namespace
}  // namespace lucid
