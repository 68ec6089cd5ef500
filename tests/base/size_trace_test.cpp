#include "base/size_trace.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/scalar.h"
#include "base/shape.h"

namespace lucid {
namespace {

/// What a traced computation returns for other sizes; empty if it would have gone another way.
template <typename F>
std::optional<int64_t> traced(std::vector<int64_t> sizes, std::vector<int64_t> others, const F& compute) {
  SizeTrace trace;
  std::vector<SymInt> dims;
  for (const int64_t size : sizes) dims.push_back(trace.add_symbol(size));
  SymInt result;
  {
    const SizeTrace::Scope scope(&trace);
    result = compute(dims);
  }
  const auto values = SizeTrace::Evaluation::of(trace, others);
  if (!values) return std::nullopt;
  return (*values)(result).unguarded();
}

TEST(SymInt, IsAPlainIntegerWithoutATrace) {
  SymInt dim = 7;
  EXPECT_EQ(dim * 3 - 1, 20);
  EXPECT_EQ(20 / dim % 2, 0);
  EXPECT_TRUE(dim > 6 && 7 <= dim && dim != 8);
  dim += 2;
  EXPECT_EQ(++dim, 10);
  EXPECT_EQ(dim--, 10);
  EXPECT_EQ(-dim, -9);
  EXPECT_EQ(int64_t{dim}, 9);
  EXPECT_EQ(fmt::format("{}", dim), "9");
}

TEST(SymInt, Divides) {
  EXPECT_THROW(SymInt(5) / SymInt(0), ValueError);
  EXPECT_THROW(SymInt(5) % SymInt(0), ValueError);
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(SymInt(kLeast) / SymInt(-1), kLeast);
  EXPECT_EQ(SymInt(kLeast) % SymInt(-1), 0);
}

TEST(SymInt, KeepsTheLargestIntegers) {
  for (const int64_t value : {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(int64_t{SymInt(value)}, value);
    EXPECT_FALSE(SymInt(value).is_traced());
  }
}

TEST(SymInt, NeverTakesAnIntegerForATracedSize) {
  // Integers that look like traced sizes become the nearest ones that do not.
  const auto tag = static_cast<int64_t>(0xA500000000000000);
  for (const int64_t value : {tag, tag + 1, tag + (int64_t{1} << 56) - 1}) {
    EXPECT_FALSE(SymInt(value).is_traced());
    EXPECT_LT(int64_t{SymInt(value)}, -6'000'000'000'000'000'000);
  }
  EXPECT_EQ(int64_t{SymInt(tag - 1)}, tag - 1);
}

TEST(SizeTrace, TracesArithmetic) {
  const auto compute = [](const std::vector<SymInt>& s) { return (s[0] + 1) * s[1] - s[0] / 3 + s[1] % 4; };
  for (int64_t a = 2; a < 20; ++a)
    for (int64_t b = 2; b < 20; ++b) EXPECT_EQ(traced({5, 7}, {a, b}, compute), (a + 1) * b - a / 3 + b % 4);
}

TEST(SizeTrace, DependsOnValuesThatAreRead) {
  const auto compute = [](const std::vector<SymInt>& s) { return SymInt(int64_t{s[0]}) + s[1]; };
  EXPECT_EQ(traced({5, 7}, {5, 9}, compute), 14);
  EXPECT_EQ(traced({5, 7}, {6, 9}, compute), std::nullopt);
}

TEST(SizeTrace, DependsOnComparisons) {
  const auto compute = [](const std::vector<SymInt>& s) {
    return s[0] < s[1] ? s[0] : s[0] == 30 ? SymInt(30) : SymInt(1);
  };
  EXPECT_EQ(traced({5, 7}, {8, 9}, compute), 8);
  EXPECT_EQ(traced({5, 7}, {9, 9}, compute), std::nullopt);
  EXPECT_EQ(traced({8, 7}, {9, 9}, compute), 1);
  EXPECT_EQ(traced({8, 7}, {30, 9}, compute), std::nullopt);
  EXPECT_EQ(traced({30, 7}, {30, 8}, compute), 30);
}

TEST(SizeTrace, NotesNothingThatHoldsForAllSizes) {
  SizeTrace trace;
  const SymInt a = trace.add_symbol(5), b = trace.add_symbol(7);
  const SizeTrace::Scope scope(&trace);
  EXPECT_TRUE(a != 0 && a != 1 && a > 1 && 0 < a && a * b >= 4 && a + b == b + a && a * b * 4 == b * (a * 4));
  EXPECT_TRUE(a * b * 64 / 64 == a * b && a * 64 % 64 == 0 && a * b / a == b && a < a * 3 && a / 2 >= 0);
  EXPECT_TRUE(trace.conditions().empty());
  EXPECT_TRUE(a * 2 > 9 && b - 1 != 1);
  EXPECT_EQ(trace.conditions(), (std::vector<std::string>{"s1-2 != 0", "-s0*2+9 < 0"}));
}

TEST(SizeTrace, PrintsExpressions) {
  SizeTrace trace;
  const SymInt a = trace.add_symbol(5), b = trace.add_symbol(7);
  const SizeTrace::Scope scope(&trace);
  EXPECT_EQ(trace.text(a * 64 + 1), "s0*64+1");
  EXPECT_EQ(trace.text(-a + b * b), "-s0+s1*s1");
  EXPECT_EQ(trace.text((a + 1) / 2 * b), "s1*((s0+1)/2)");
  EXPECT_EQ(trace.text(3), "3");
}

TEST(SizeTrace, SmallSizesAreNotTraceable) {
  EXPECT_FALSE(SizeTrace::is_traceable(0) || SizeTrace::is_traceable(1) || SizeTrace::is_traceable(int64_t{1} << 40));
  const auto compute = [](const std::vector<SymInt>& s) { return s[0]; };
  EXPECT_EQ(traced({5}, {1}, compute), std::nullopt);
  EXPECT_EQ(traced({5}, {int64_t{1} << 40}, compute), std::nullopt);
}

TEST(SizeTrace, NumbersThatDoNotFitAreRead) {
  const auto compute = [](const std::vector<SymInt>& s) { return s[0] * 1'000'000'000; };
  EXPECT_EQ(traced({5}, {5}, compute), 5'000'000'000);
  EXPECT_EQ(traced({5}, {6}, compute), std::nullopt);
  EXPECT_EQ(traced({2}, {5}, compute), std::nullopt);
}

TEST(SizeTrace, DividesByNegativeNumbers) {
  const auto compute = [](const std::vector<SymInt>& s) { return -s[0] / -1 + s[0] % -1 + (1 - s[0]) / -2; };
  EXPECT_EQ(traced({5}, {5}, compute), 7);
  EXPECT_EQ(traced({5}, {9}, compute), 13);
}

TEST(SizeTrace, LongChainsAreRead) {
  for (const int length : {2, 30, 3000}) {
    const auto compute = [length](const std::vector<SymInt>& s) {
      SymInt number = s[0];
      for (int i = 0; i < length; ++i) number = (number * number + number + 5) % 101;
      return number;
    };
    EXPECT_EQ(traced({5}, {5}, compute), compute({5}).unguarded());
    const auto other = traced({5}, {9}, compute);
    EXPECT_EQ(other.has_value(), length == 2);
  }
}

TEST(SizeTrace, IgnoresWhatItDoesNotKnow) {
  SizeTrace first, second;
  const SymInt stranger = first.add_symbol(5);
  const SymInt own = second.add_symbol(7);
  const SizeTrace::Scope scope(&second);
  EXPECT_EQ(second.text(own + stranger), "s0+5");
  EXPECT_FALSE((stranger + 1).is_traced());
  EXPECT_EQ(int64_t{stranger}, 5);
  EXPECT_TRUE(second.conditions().empty());
}

TEST(SizeTrace, NotesOnlyWhatItsThreadDoesInItsScope) {
  SizeTrace trace;
  const SymInt dim = trace.add_symbol(5);
  EXPECT_EQ(int64_t{dim}, 5);
  const SizeTrace::Scope scope(&trace);
  {
    const SizeTrace::Pause pause;
    EXPECT_FALSE((dim + 1).is_traced());
    EXPECT_TRUE(dim == 5);
  }
  std::thread([dim] { EXPECT_EQ(int64_t{dim}, 5); }).join();
  EXPECT_TRUE(trace.conditions().empty());
  EXPECT_EQ(SizeTrace::current(), &trace);
}

TEST(SizeTrace, NumbersMayBeTracedSizes) {
  SizeTrace trace;
  const SymInt dim = trace.add_symbol(5);
  const SizeTrace::Scope scope(&trace);
  const Scalar number(dim);
  EXPECT_TRUE(number.is_size());
  EXPECT_TRUE(number == Scalar(dim));
  EXPECT_FALSE(number == Scalar(5));
  EXPECT_TRUE(trace.conditions().empty());
  EXPECT_EQ(number.to_int(), 5);
  EXPECT_EQ(trace.conditions().size(), 1u);
}

// Random computations of shapes, with the library's own rules: for sizes that meet the conditions, a new run returns
// what the trace says.
TEST(SizeTrace, PredictsTheRulesOfShapes) {
  std::mt19937 random(1);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int predicted = 0;
  for (int round = 0; round < 3000; ++round) {
    const uint32_t seed = random();
    const auto compute = [seed](const std::vector<SymInt>& s) {
      std::mt19937 choices(seed);
      const auto choose = [&](int64_t n) { return static_cast<int64_t>(choices() % static_cast<uint32_t>(n)); };
      Dims shape{s[0], 3, s[1], 4};
      Dims strides = contiguous_strides(shape);
      SymInt sum = 0;
      for (int step = 0; step < 6; ++step) {
        const auto i = static_cast<size_t>(choose(shape.rank())), j = static_cast<size_t>(choose(shape.rank()));
        switch (choose(5)) {
          case 0:
            std::swap(shape[i], shape[j]);
            std::swap(strides[i], strides[j]);
            break;
          case 1: {
            const Dims flat = infer_shape("test", Dims{shape[i], -1}, numel(shape));
            if (const auto view = view_strides(shape, strides, flat)) {
              shape = flat;
              strides = *view;
            }
            break;
          }
          case 2:
            sum += is_contiguous(shape, strides) ? numel(shape) : SymInt(is_dense(shape, strides));
            break;
          case 3: {
            const Geometry geometry{shape, strides, 0};
            const Geometry* operands[] = {&geometry};
            strides = elementwise_strides(shape, operands);
            break;
          }
          default:
            if (shape[i] > 5) shape[i] = shape[i] / 2 + choose(2);
        }
      }
      for (size_t d = 0; d < shape.size(); ++d) sum = sum * 3 + shape[d] + 7 * strides[d];
      return sum % 1'000'003;
    };
    const std::vector<int64_t> sizes{pick(2, 9), pick(2, 9)}, others{pick(2, 12), pick(2, 12)};
    const std::optional<int64_t> result = traced(sizes, others, compute);
    if (!result) continue;
    ++predicted;
    EXPECT_EQ(*result, compute({others[0], others[1]}).unguarded()) << "seed " << seed;
  }
  EXPECT_GT(predicted, 500);
}

}  // namespace
}  // namespace lucid
