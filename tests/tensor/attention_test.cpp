#include <cmath>
#include <limits>

#include "ops/interpreter.h"
#include "runtime/float_mode.h"
#include "support.h"
#include "tensor_samples.h"

namespace lucid::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value value_from(Dtype dtype, const Dims& shape, uint32_t seed) {
  return test::make_tensor({.shape = shape}, dtype, seed);
}

struct Problem {
  int64_t queries;
  int64_t keys;
  int64_t width;
  int64_t value_width;
};

/// Compares with the plain reference, bitwise.
void check(const Problem& p, Dtype dtype, bool causal, const Value& mask) {
  const Op& op = op_table().at("attention");
  const Value q = value_from(dtype, {1, 2, p.queries, p.width}, 1);
  const Value k = value_from(dtype, {1, 2, p.keys, p.width}, 2);
  const Value v = value_from(dtype, {1, 2, p.keys, p.value_width}, 3);
  const Attributes attributes = {causal, 0.25};
  const Operand reference[] = {q, k, v, mask ? Operand(mask) : Operand()};
  Values expected;
  {
    const FloatModeScope float_mode;
    expected = Interpreter().emit(op, reference, attributes);
  }
  Values tensors;
  for (const Value& value : {q, k, v, mask}) tensors.push_back(value ? Value(test::to_tensor(value, {})) : Value());
  const Operand operands[] = {tensors[0], tensors[1], tensors[2], mask ? Operand(tensors[3]) : Operand()};
  const Values results = eager().emit(op, operands, attributes);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(test::bits_of(*tensor_of(results[i])), test::bits_of(*test::to_tensor(expected[i], {})))
        << "result " << i << " of " << p.queries << " queries, " << p.keys << " keys, widths " << p.width << " and "
        << p.value_width << (causal ? ", causal" : "");
}

TEST(Attention, HasOneOrderForAllTiles) {
  const Problem problems[] = {{1, 1, 1, 1},    {1, 65, 8, 8},   {15, 64, 4, 7},   {16, 63, 16, 16}, {17, 128, 5, 8},
                              {32, 200, 7, 9}, {33, 31, 16, 3}, {70, 70, 12, 20}, {100, 130, 3, 17}};
  for (const Problem& problem : problems)
    for (const Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kBF16})
      for (const bool causal : {false, true}) check(problem, dtype, causal, {});
}

TEST(Attention, HasOneOrderWithMasks) {
  for (const Problem& problem : {Problem{19, 70, 5, 9}, Problem{40, 130, 4, 4}}) {
    const Dims shape{1, 2, problem.queries, problem.keys};
    const Value bools = test::make_tensor({.shape = shape, .fill = Fill::kMask, .dtype = Dtype::kBool}, Dtype::kF32, 4);
    const Value numbers = value_from(Dtype::kF32, shape, 5);
    // Rows and blocks that either kind of mask excludes entirely.
    for (int64_t j = 0; j < problem.keys; ++j) {
      Interpreter::array(bools).as<bool>()[2 * problem.keys + j] = false;
      Interpreter::array(numbers).as<float>()[3 * problem.keys + j] = -std::numeric_limits<float>::infinity();
      if (j < 64) Interpreter::array(bools).as<bool>()[5 * problem.keys + j] = false;
    }
    for (const bool causal : {false, true}) {
      check(problem, Dtype::kF32, causal, bools);
      check(problem, Dtype::kF32, causal, numbers);
    }
  }
}

TEST(Attention, ExcludedKeysContributeNothing) {
  const Tensor q = counting({2, 3}) * 0.1;
  Tensor k = counting({4, 3}) * 0.1;
  Tensor v = counting({4, 2});
  const Tensor expected = scaled_dot_product_attention(q, k, v, Argument(), true);
  // Query 1, the last, does not attend to keys 2 and 3.
  k[2].fill_(std::nan(""));
  v[3].fill_(kInfinity);
  EXPECT_EQ(read(scaled_dot_product_attention(q, k, v, Argument(), true)), read(expected));
  const Tensor mask = gt(make({1, 1, 0, 0}), 0.5);
  const Tensor masked = scaled_dot_product_attention(q, k, v, mask);
  EXPECT_EQ(read(masked[1]), read(expected[1]));
}

TEST(Attention, AQueryWithoutKeysReturnsZerosAndHasNoGradient) {
  Tensor q = leaf({2, 3}), k = leaf({2, 3}), v = leaf({2, 2});
  const Tensor mask = gt(make({1, 1, 0, 0}, {2, 2}), 0.5);
  const Tensor result = scaled_dot_product_attention(q, k, v, mask);
  EXPECT_EQ(read(result[1]), (Numbers{0, 0}));
  sum(result).backward();
  EXPECT_EQ(read(q.grad()[1]), (Numbers{0, 0, 0}));
  for (const double g : read(k.grad())) EXPECT_TRUE(std::isfinite(g));
  EXPECT_NEAR(sum(v.grad()).item<double>(), 2, 1e-12);
}

TEST(Attention, ValuesWiderThanTheKernelHoldsAreStillAttendedTo) {
  const Tensor q = counting({2, 2}) * 0.1;
  const Tensor wide = ones({2, 5000}, Dtype::kF64);
  const Tensor result = scaled_dot_product_attention(q, q, wide);
  EXPECT_EQ(result.shape(), (Shape{2, 5000}));
  EXPECT_NEAR(result.to_vector<double>()[4999], 1, 1e-15);
}

TEST(Attention, SaysWhatDoesNotFit) {
  const Tensor x = counting({2, 3});
  expect_error(ErrorClass::kValue, "attn_mask and is_causal cannot be combined",
               [&] { scaled_dot_product_attention(x, x, x, gt(x, 1.0), true); });
  expect_error(ErrorClass::kValue, "scaled_dot_product_attention: expected query [..., l, e]",
               [&] { scaled_dot_product_attention(x, counting({2, 4}), x); });
}

}  // namespace
}  // namespace lucid::testing
