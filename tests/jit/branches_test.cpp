// Calls whose course depends on values that they read: one plan for each branch.

#include <random>

#include "../tensor/support.h"
#include "lucid/compile.h"
#include "lucid/lucid.h"

namespace lucid {
namespace {

using namespace lucid::testing;

bool is_true(const Tensor& x) { return x.item<bool>(); }

TEST(Branches, EachHasAPlan) {
  const auto function = [](const Tensor& x) {
    if (is_true(gt(lucid::sum(x), 0.0))) return exp(x);
    if (is_true(gt(select(x, 0, 0), -1.0))) return x * 2.0;
    return x - 1.0;
  };
  const auto f = compile(function);
  for (int repeat = 0; repeat < 4; ++repeat)
    for (const double first : {2.0, -0.5, -3.0}) {
      const Tensor x = tensor({first, 0.25});
      EXPECT_EQ(read(f(x)), read(function(x)));
    }
  EXPECT_EQ(f.cache_info().compiles, 3);
  EXPECT_EQ(f.cache_info().hits, 9);
  EXPECT_EQ(f.cache_info().entries, 1u);
}

TEST(Branches, IntegersAreGuardedByValue) {
  const auto function = [](const Tensor& x, const Tensor& n) {
    Tensor y = x;
    for (int64_t i = 0; i < n.item<int64_t>(); ++i) y = y * 1.5;
    return y;
  };
  const auto f = compile(function);
  const Tensor x = randn({4});
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const int64_t n : {1, 3, 0}) EXPECT_EQ(read(f(x, scalar(n))), read(function(x, scalar(n))));
  EXPECT_EQ(f.cache_info().compiles, 3);
  EXPECT_EQ(f.cache_info().hits, 6);
}

TEST(Branches, ThatDoNotMatchHaveNoEffect) {
  // The write, the gradient and the random numbers of a branch that is tried must be discarded.
  const auto make = [](Tensor& state, Tensor& weight) {
    return [&](const Tensor& x) {
      state += 1.0;
      if (is_true(gt(lucid::sum(x), 0.0))) {
        weight.set_grad(Tensor());
        lucid::sum(weight * x * rand({3})).backward();
        return state * 2.0;
      }
      state *= 0.5;
      return state + rand({3});
    };
  };
  Tensor a = ones({3}), b = ones({3});
  Tensor v = ones({3}).requires_grad_(), w = ones({3}).requires_grad_();
  const auto eager = make(a, v);
  const auto f = compile(make(b, w));
  std::vector<std::vector<double>> expected, found;
  const auto note = [](auto& into, const Tensor& result, const Tensor& state, const Tensor& weight) {
    into.push_back(read(result));
    into.push_back(read(state));
    if (weight.grad().defined()) into.push_back(read(weight.grad()));
  };
  const double signs[] = {1, -1, 1, 1, -1, -1, 1, -1};
  manual_seed(7);
  for (const double sign : signs) note(expected, eager(full({3}, sign)), a, v);
  manual_seed(7);
  for (const double sign : signs) note(found, f(full({3}, sign)), b, w);
  EXPECT_EQ(found, expected);
  // A gradient that is there is another state than none.
  EXPECT_GE(f.cache_info().hits, 4);
}

TEST(Branches, ThatRaiseDoNotHideOthers) {
  const Tensor table = arange(4);
  const auto function = [&](const Tensor& index) {
    if (is_true(lt(lucid::amax(index), 4))) return index_select(table, 0, index);
    return index * 2;
  };
  const auto f = compile(function);
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const int64_t last : {3, 9}) {
      const Tensor index = tensor({int64_t{1}, last});
      EXPECT_EQ(read(f(index)), read(function(index)));
    }
  EXPECT_EQ(f.cache_info().hits, 4);
}

TEST(Branches, OfSixDecisionsSettle) {
  const auto function = [](const Tensor& x) {
    Tensor y = x;
    for (int64_t i = 0; i < 6; ++i) y = is_true(gt(select(x, 0, i), 0.0)) ? y * 1.5 : y + 0.25;
    return y;
  };
  const auto f = compile(function);
  int64_t hits = 0;
  for (int i = 0; i < 10000; ++i) {
    if (i == 5000) hits = f.cache_info().hits;
    const Tensor x = randn({6});
    ASSERT_EQ(read(f(x)), read(function(x)));
  }
  EXPECT_LE(f.cache_info().compiles, 64);
  EXPECT_GT(f.cache_info().hits - hits, 4750);
  EXPECT_EQ(f.cache_info().entries, 1u);
}

TEST(Branches, ThatNeverRepeatAreTriedRarely) {
  const auto f = compile([](const Tensor& x) { return x * static_cast<double>(lucid::sum(x).item<int64_t>()); });
  for (int64_t i = 0; i < 5000; ++i) f(full({2}, i));
  EXPECT_EQ(f.cache_info().hits, 0);
  EXPECT_LT(f.cache_info().compiles, 40);
  EXPECT_EQ(f.cache_info().entries, 1u);
}

TEST(Branches, OfOneKeyAreEvictedTogether) {
  const auto f = compile([](const Tensor& x) { return is_true(gt(lucid::sum(x), 0.0)) ? x * 2.0 : x; },
                         {.max_cache_entries = 2, .dynamic = false});
  const auto call = [&](int64_t size) {
    for (const double value : {1.0, -1.0}) f(full({size}, value));
  };
  for (const int64_t size : {1, 2}) call(size);
  EXPECT_EQ(f.cache_info().compiles, 4);
  EXPECT_EQ(f.cache_info().entries, 2u);
  call(3);
  EXPECT_EQ(f.cache_info().entries, 2u);
  call(1);
  EXPECT_EQ(f.cache_info().compiles, 8);
}

TEST(Branches, FloatsThatAreReadRunEagerly) {
  const auto f = compile([](const Tensor& x) { return x * lucid::sum(x).item<double>(); });
  for (int i = 0; i < 3; ++i) f(ones({2}));
  EXPECT_EQ(f.cache_info().compiles, 0);
  EXPECT_NE(f.explain().find("reads a value of a tensor"), std::string::npos) << f.explain();
}

}  // namespace
}  // namespace lucid
