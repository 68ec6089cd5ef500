#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ops/interpreter.h"
#include "ops/philox.h"

namespace lucid {
namespace {

Value state(int64_t seed, int64_t offset) {
  const Value value = Interpreter::make({Dtype::kI64, {2}});
  Interpreter::array(value).as<int64_t>()[0] = seed;
  Interpreter::array(value).as<int64_t>()[1] = offset;
  return value;
}

/// The test vector that was published with the generator.
TEST(Philox, ReturnsThePublishedWords) {
  EXPECT_EQ(philox::words(0, 0), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, MultipliesHigh) {
  EXPECT_EQ(philox::multiply_high(UINT64_MAX, UINT64_MAX), UINT64_MAX - 1);
  EXPECT_EQ(philox::multiply_high(uint64_t{1} << 63, 6), 3u);
}

TEST(RandomOps, ContinueAtTheOffset) {
  Interpreter e;
  const Value whole = e.random_bits(state(7, 100), Dims{6});
  const Value rest = e.random_bits(state(7, 104), Dims{2});
  for (int64_t i = 0; i < 2; ++i)
    EXPECT_EQ(Interpreter::array(whole).as<int64_t>()[4 + i], Interpreter::array(rest).as<int64_t>()[i]);
}

TEST(RandomOps, DoNotDependOnTheShape) {
  Interpreter e;
  const Value flat = e.random_normal(state(7, 3), Dims{6}, Dtype::kF32);
  const Value square = e.random_normal(state(7, 3), Dims{2, 3}, Dtype::kF32);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(Interpreter::array(flat).as<float>()[i], Interpreter::array(square).as<float>()[i]);
}

TEST(RandomOps, UniformNumbersAreInRangeWithTheRightMean) {
  Interpreter e;
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64}) {
    const Value value = e.random_uniform(state(1, 0), Dims{20000}, dtype);
    const HostArray samples = Interpreter::array(value);
    double sum = 0;
    for (int64_t i = 0; i < samples.size(); ++i) {
      const double x = Scalar::load(dtype, samples.as<char>() + i * static_cast<int64_t>(size_of(dtype))).to_double();
      ASSERT_GE(x, 0);
      ASSERT_LT(x, 1);
      sum += x;
    }
    EXPECT_NEAR(sum / 20000, 0.5, 0.01) << name_of(dtype);
  }
}

TEST(RandomOps, NormalNumbersHaveTheRightMoments) {
  Interpreter e;
  const Value value = e.random_normal(state(3, 0), Dims{20000}, Dtype::kF64);
  const double* x = Interpreter::array(value).as<double>();
  double moments[5] = {};
  for (int64_t i = 0; i < 20000; ++i)
    for (int m = 1; m < 5; ++m) moments[m] += std::pow(x[i], m) / 20000;
  EXPECT_NEAR(moments[1], 0, 0.03);
  EXPECT_NEAR(moments[2], 1, 0.05);
  EXPECT_NEAR(moments[3], 0, 0.1);
  EXPECT_NEAR(moments[4], 3, 0.3);
}

TEST(RandomOps, IntegersReachBothEndsAndNothingBeyond) {
  Interpreter e;
  const Value value = e.random_integers(state(3, 0), Dims{1000}, -2, 3);
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 1000; ++i) seen.insert(Interpreter::array(value).as<int64_t>()[i]);
  EXPECT_EQ(seen, (std::set<int64_t>{-2, -1, 0, 1, 2}));
  EXPECT_THROW(e.random_integers(state(3, 0), Dims{1}, 3, 3), ValueError);
  EXPECT_THROW(e.random_integers(state(3, 0), Dims{1}, 0, 257, Dtype::kU8), ValueError);
}

TEST(RandomOps, BernoulliTrialsHaveTheRightFrequency) {
  Interpreter e;
  const Value p = e.full(Dims{20000}, 0.3, Dtype::kF32);
  const Value value = e.random_bernoulli(state(3, 0), p);
  double sum = 0;
  for (int64_t i = 0; i < 20000; ++i) sum += Interpreter::array(value).as<float>()[i];
  EXPECT_NEAR(sum / 20000, 0.3, 0.015);
  EXPECT_THROW(e.random_bernoulli(state(3, 0), e.full(Dims{1}, 1.5, Dtype::kF32)), ValueError);
}

TEST(RandomOps, APermutationContainsEveryNumberOnce) {
  Interpreter e;
  const Value value = e.random_permutation(state(3, 0), 100);
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 100; ++i) seen.insert(Interpreter::array(value).as<int64_t>()[i]);
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 99);
}

TEST(RandomOps, MultinomialFollowsTheWeightsAndNeverPicksZero) {
  Interpreter e;
  const Value p = Interpreter::make({Dtype::kF32, {4}});
  const float weights[] = {1, 0, 3, 0};
  std::copy(weights, weights + 4, Interpreter::array(p).as<float>());
  const Value many = e.random_multinomial(state(3, 0), p, 20000, true);
  int64_t counts[4] = {};
  for (int64_t i = 0; i < 20000; ++i) ++counts[Interpreter::array(many).as<int64_t>()[i]];
  EXPECT_EQ(counts[1] + counts[3], 0);
  EXPECT_NEAR(static_cast<double>(counts[2]) / 20000, 0.75, 0.02);
  const Value both = e.random_multinomial(state(3, 0), p, 2, false);
  const int64_t* picked = Interpreter::array(both).as<int64_t>();
  EXPECT_EQ(picked[0] + picked[1], 2);
  EXPECT_THROW(e.random_multinomial(state(3, 0), p, 3, false), ValueError);
}

}  // namespace
}  // namespace lucid
