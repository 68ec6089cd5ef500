// Numbers and sizes among the arguments of compiled functions that vary from call to call.

#include <cmath>
#include <limits>
#include <thread>

#include "jit/expect_same.h"
#include "lucid/lucid.h"

namespace lucid {
namespace {

using namespace lucid::testing;

const CompileOptions kWait = {.wait = true};
const CompileOptions kDynamic = {.wait = true, .dynamic = true};

TEST(VaryingNumbers, OnePlanServesAllValues) {
  const auto f = [](const Tensor& x, Number k) { return x * k + (1 - k) * (k / 3.0) - -k; };
  const auto fast = compile(f, kWait);
  const Tensor x = randn({5});
  for (const double k : {0.5, -1.0, 0.0, -0.0, 1e300, 3.25, std::numeric_limits<double>::infinity()})
    expect_same(fast(x, Number(k)), f(x, k));
  EXPECT_EQ(fast.cache_info().compiles, 1);
  EXPECT_EQ(fast.cache_info().hits, 6);
  EXPECT_NE(fast.explain().find("a Number"), std::string::npos) << fast.explain();
}

TEST(VaryingNumbers, IntegersAndRealsHavePlansOfTheirOwn) {
  const auto f = [](const Tensor& x, Number k) { return x * k + k / 2; };
  const auto fast = compile(f, kWait);
  const Tensor x = arange(4);
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const Number& k : {Number(3), Number(7), Number(1.5), Number(-0.5)}) expect_same(fast(x, k), f(x, k));
  EXPECT_EQ(fast.cache_info().compiles, 2);
}

Tensor scaled_part(const Tensor& x, const Number& scale, SymInt length) { return x.narrow(0, 0, length) * scale; }

TEST(VaryingNumbers, PlainNumbersBecomeWhatTheFunctionTakes) {
  const auto function = compile(scaled_part, kWait);
  const auto lambda = compile([](const Tensor& x, Number k, const SymInt& n) { return scaled_part(x, k, n); }, kWait);
  const auto object = compile(std::function(scaled_part), kWait);
  // The parameters of a template are not known.
  const auto any = compile([](const Tensor& x, auto k, auto n) { return scaled_part(x, k, n); }, kWait);
  const Tensor x = randn({9});
  for (int n = 2; n < 6; ++n) {
    const Tensor expected = scaled_part(x, 0.5 * n, n);
    for (const Tensor& got : {function(x, 0.5 * n, n), lambda(x, 0.5f * static_cast<float>(n), n),
                              object(x, 0.5 * n, n), any(x, 0.5 * n, n), any(x, Number(0.5 * n), SymInt(n))})
      expect_same(got, expected);
  }
  for (const CompileInfo& info : {function.cache_info(), lambda.cache_info(), object.cache_info()})
    EXPECT_EQ(info.compiles, 1);
  EXPECT_EQ(any.cache_info().compiles, 5);
  EXPECT_EQ(function.graph(x, 7.5, 4), function.graph(x, Number(1.5), SymInt(4)));
}

TEST(VaryingNumbers, ComparisonsArePartOfThePlan) {
  const auto f = [](const Tensor& x, Number k) { return k > 0 && k != 5 ? x * k : k == 5 ? x : x - k; };
  const auto fast = compile(f, kWait);
  const Tensor x = randn({5});
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const int k : {1, 2, 5, -1, 0, 7, -9}) expect_same(fast(x, Number(k)), f(x, k));
  EXPECT_EQ(fast.cache_info().compiles, 3);
  const auto is_small = [](const Tensor& x, Number k) { return k <= 1.0 ? x : -x; };
  const auto fast_is_small = compile(is_small, kWait);
  for (const double k : {0.5, std::nan(""), 2.0, std::nan("")})
    expect_same(fast_is_small(x, Number(k)), is_small(x, k));
}

TEST(VaryingNumbers, CodeThatReadsTheValueHasAPlanForEach) {
  const auto f = [](const Tensor& x, Number k) { return x.leaky_relu(static_cast<double>(k + 1)) * k; };
  const auto fast = compile(f, kWait);
  const Tensor x = randn({5});
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const double k : {0.5, 2.0, 0.25}) expect_same(fast(x, Number(k)), f(x, k));
  EXPECT_EQ(fast.cache_info().compiles, 3);
}

TEST(VaryingNumbers, OpsThatDependOnTheirNumbersReadThem) {
  // The exponent decides which kernel is made.
  const auto f = [](const Tensor& x, Number k) { return lucid::pow(x, k) + lucid::arange(k); };
  const auto fast = compile(f, kWait);
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const int k : {2, 3, 4}) {
      const Tensor x = randn({k});
      expect_same(fast(x, Number(k)), f(x, k));
    }
}

TEST(VaryingNumbers, ValuesThatAnOpReadsHaveAPlan) {
  const auto f = [](const Tensor& x, Number k) { return x.masked_fill(x > 0, k).clamp(-k, k); };
  const auto fast = compile(f, kWait);
  const Tensor x = randn({5});
  for (int i = 0; i < 4; ++i) expect_same(fast(x, 0.5), f(x, 0.5));
  EXPECT_EQ(fast.cache_info().hits, 3) << fast.explain();
}

TEST(VaryingNumbers, ComputeAsPlainNumbersDo) {
  EXPECT_EQ(static_cast<int64_t>(Number(7) / 2), 3);
  EXPECT_EQ(static_cast<int64_t>(Number(-7) / 2), -3);
  EXPECT_EQ(static_cast<double>(Number(7) / 2.0), 3.5);
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(static_cast<int64_t>(Number(kMin) / -1), kMin);
  EXPECT_EQ(static_cast<int64_t>(-Number(kMin)), kMin);
  EXPECT_EQ(static_cast<int64_t>(Number(kMin) - 1), std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(std::signbit(static_cast<double>(-Number(0.0))));
  EXPECT_TRUE(static_cast<bool>(Number(0.5)));
  EXPECT_FALSE(Number(0));
  Number k = 3;
  k += 1;
  k *= 2.5;
  EXPECT_EQ(k, 10.0);
  EXPECT_FALSE(k.is_integer());
  EXPECT_THROW(Number(1) / 0, ValueError);
}

TEST(VaryingNumbers, ErrorsAreThoseOfTheFunction) {
  const auto f = compile([](const Tensor& x, Number k) { return x * (Number(12) / k); }, kWait);
  const Tensor x = ones({2});
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(read(f(x, Number(4))), read(x * 3));
    EXPECT_THROW(f(x, Number(0)), ValueError);
  }
  // A caught error depends on the number.
  const auto g = [](const Tensor& x, Number k) {
    try {
      return x * (Number(12) / k);
    } catch (const ValueError&) {
      return x;
    }
  };
  const auto fast = compile(g, kWait);
  for (const int k : {0, 3, 0, 4, 5}) expect_same(fast(x, Number(k)), g(x, k));
}

TEST(VaryingNumbers, InCallsThatWriteAndRunBackward) {
  Tensor average = zeros({4}), expected = zeros({4});
  const auto f = [](Tensor& state, const Tensor& x, Number k) {
    state *= k;
    state += x * (1 - k);
    Tensor y = state.clone().requires_grad_();
    ((y * k).tanh() * k / 2).sum().backward();
    return y.grad();
  };
  const auto fast = compile([&](const Tensor& x, Number k) { return f(average, x, k); }, kWait);
  for (int i = 0; i < 8; ++i) {
    const Tensor x = randn({4});
    expect_same(fast(x, 0.1 * i), f(expected, x, 0.1 * i));
    expect_same(average, expected);
  }
  EXPECT_EQ(fast.cache_info().compiles, 1) << fast.explain();
}

TEST(VaryingNumbers, GradientGraphsOfResultsHaveTheNumbersOfTheirCall) {
  Tensor weight = randn({4}).requires_grad_();
  const auto f = compile([&](const Tensor& x, Number k) { return (x * weight * k).tanh() * k; }, kWait);
  const Tensor x = randn({4});
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const double k : {0.5, 2.0, -1.0}) {
      weight.set_grad(Tensor());
      f(x, Number(k)).sum().backward();
      const Tensor got = weight.grad();
      weight.set_grad(Tensor());
      ((x * weight * k).tanh() * k).sum().backward();
      expect_same(got, weight.grad());
    }
}

TEST(VaryingNumbers, OfEndedRecordingsArePlain) {
  // The graph that the recorded call of f leaves holds its number; the recording of g is not to take it for its own.
  Tensor weight = randn({4}).requires_grad_();
  const auto f = compile([&](const Tensor& x, Number k) { return (x * weight) * k; }, kWait);
  const Tensor x = randn({4});
  const auto g = compile(
      [&](const Tensor& y, Number k) {
        weight.set_grad(Tensor());
        y.sum().backward(Tensor(), /*retain_graph=*/true);
        return weight.grad() * k;
      },
      kWait);
  const Tensor first = f(x, Number(3.0)), second = f(x, Number(5.0));
  for (const double k : {1.0, 2.0, 10.0}) {
    expect_same(g(first, Number(k)), x * 3.0 * k);
    expect_same(g(second, Number(k)), x * 5.0 * k);
  }
  // Nor does a number that outlives its recording mean anything to the next one.
  Number kept = 0;
  const auto keep = compile([&](const Tensor& y, Number k) { return kept = k, y; }, kWait);
  keep(x, Number(4.0));
  const auto use = compile([&](const Tensor& y, Number k) { return y * (kept + k) * kept; }, kWait);
  for (const double k : {1.0, 2.0, 3.0}) expect_same(use(x, Number(k)), x * (4.0 + k) * 4.0);
}

TEST(VaryingNumbers, InContainersAreExact) {
  const auto f = [](const Tensor& x, const std::vector<Number>& ks, std::pair<SymInt, Number> pair) {
    return x * ks[0] + ks[1] - pair.first * pair.second;
  };
  const auto fast = compile(f, kWait);
  const Tensor x = randn({3});
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const double k : {1.0, 2.0})
      expect_same(fast(x, std::vector<Number>{k, 3}, std::pair(SymInt(4), Number(k))),
                  f(x, {k, 3}, {SymInt(4), Number(k)}));
  EXPECT_EQ(fast.cache_info().compiles, 2);
}

TEST(VaryingNumbers, ACompiledFunctionInsideAnotherTakesThem) {
  const auto inner = compile([](const Tensor& x, Number k, SymInt n) { return x.narrow(0, 0, n) * k; }, kWait);
  const auto f = [&](const Tensor& x, Number k, SymInt n) { return inner(x, k + 1, n * 2) - k; };
  const auto fast = compile(f, kWait);
  const Tensor x = randn({64});
  for (const int n : {2, 3, 9, 17, 31})
    expect_same(fast(x, Number(0.5 * n), SymInt(n)), f(x, Number(0.5 * n), SymInt(n)));
  EXPECT_LE(fast.cache_info().compiles, 3) << fast.explain();
}

TEST(VaryingNumbers, AreVerified) {
  const auto f = [](const Tensor& x, Number k, SymInt n) { return x[{Slice(0, n)}] * k; };
  const auto fast = compile(f, {.wait = true, .verify = 1});
  const Tensor x = randn({32});
  for (const int n : {5, 6, 7, 20}) expect_same(fast(x, Number(1.5 * n), SymInt(n)), f(x, Number(1.5 * n), SymInt(n)));
}

TEST(VaryingNumbers, ThreadsMayPassOthers) {
  const auto f = [](const Tensor& x, Number k, SymInt n) { return k > 3 ? x.narrow(0, 0, n) * k : x + k; };
  const auto fast = compile(f);
  const Tensor x = randn({40});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const int n = 2 + (i * 7 + t * 11) % 38;
        expect_same(fast(x, Number(0.25 * n), SymInt(n)), f(x, Number(0.25 * n), SymInt(n)));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(VaryingSizes, ADimMayVary) {
  const auto f = [](const Tensor& x, SymInt n) {
    return cat({x.narrow(0, 0, n), zeros({n, 3}), x[{Slice(1, n + 1)}] * n, x[n].reshape({1, -1})}) / (n - 1);
  };
  const auto fast = compile(f, kWait);
  const Tensor x = randn({70, 3});
  for (int64_t n = 2; n < 65; ++n) expect_same(fast(x, SymInt(n)), f(x, n));
  EXPECT_LE(fast.cache_info().compiles, 3) << fast.explain();
  // Sizes 0 and 1 have plans of their own.
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const int64_t n : {0, 1, 64, 2}) expect_same(fast(x, SymInt(n)), f(x, n));
  EXPECT_LE(fast.cache_info().compiles, 5) << fast.explain();
}

TEST(VaryingSizes, LoopsOverADimHaveAPlanForEach) {
  const auto f = [](const Tensor& x, SymInt n) {
    Tensor y = x;
    for (SymInt i = 0; i < n; ++i) y = y * x + i;
    return y;
  };
  const auto fast = compile(f, kWait);
  const Tensor x = randn({3});
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const int64_t n : {2, 5, 3}) expect_same(fast(x, SymInt(n)), f(x, n));
}

TEST(VaryingSizes, SizesOfTensorsMayVary) {
  const auto f = [](const Tensor& x, const Tensor& y) {
    const Tensor rows = x.reshape({x.size(0), -1}).sum(1) / x.size(0);
    return rows + zeros({x.size(0)}) + y.numel() + (rows.size(0) > 2 ? 1 : 0);
  };
  const auto fast = compile(f, kWait);
  const Tensor y = randn({2, 2});
  for (int64_t n = 3; n < 64; ++n) {
    const Tensor x = randn({n, 4, 3});
    expect_same(fast(x, y), f(x, y));
  }
  EXPECT_LE(fast.cache_info().compiles, 4) << fast.explain();
  EXPECT_NE(fast.explain().find("shapes of arguments"), std::string::npos) << fast.explain();
  // Other strides are recorded for themselves.
  const Tensor turned = randn({4, 9, 3}).transpose(0, 1);
  for (int repeat = 0; repeat < 2; ++repeat) expect_same(fast(turned, y), f(turned, y));
}

TEST(VaryingSizes, MayBeTurnedOnAndOff) {
  const auto f = [](const Tensor& x) { return (x * 2).sum(); };
  const auto all = compile(f, kDynamic);
  const auto none = compile(f, {.wait = true, .dynamic = false});
  for (int64_t n = 4; n < 8; ++n) {
    const Tensor x = randn({n});
    expect_same(all(x), f(x));
    expect_same(none(x), f(x));
  }
  EXPECT_EQ(all.cache_info().compiles, 2);
  EXPECT_EQ(none.cache_info().compiles, 4);
}

TEST(VaryingSizes, WhatAFunctionDoesToItsArgumentsIsDoneToThem) {
  for (const std::optional<bool> dynamic : {std::optional<bool>(), std::optional(true)}) {
    const auto marks = compile([](Tensor x) { x.requires_grad_(); }, {.wait = true, .dynamic = dynamic});
    const auto sets = compile([](Tensor x) { x.set_grad(ones({x.size(0)})); }, {.wait = true, .dynamic = dynamic});
    const auto differentiates = compile(
        [](Tensor x) {
          x.requires_grad_();
          (x * x).sum().backward();
          return x.grad() * 2;
        },
        {.wait = true, .dynamic = dynamic});
    const auto reads = compile([](const Tensor& x) { return x.grad() * 2; }, {.wait = true, .dynamic = dynamic});
    for (int64_t n = 2; n < 6; ++n) {
      Tensor x = ones({n});
      marks(x);
      EXPECT_TRUE(x.requires_grad());
      Tensor y = ones({n});
      sets(y);
      EXPECT_TRUE(y.grad().defined());
      expect_same(reads(y), full({n}, 2.0));
      Tensor z = ones({n});
      expect_same(differentiates(z), full({n}, 4.0));
      expect_same(z.grad(), full({n}, 2.0));
    }
  }
}

TEST(VaryingSizes, ResultsAreThoseOfAnEagerCall) {
  const auto f =
      compile([](const Tensor& x) { return std::vector<Tensor>{x, x.narrow(0, 1, x.size(0) - 1), x + 1}; }, kDynamic);
  for (int64_t n = 3; n < 6; ++n) {
    const Tensor x = randn({n, 2});
    std::vector<Tensor> results = f(x);
    EXPECT_TRUE(results[0].is_same(x));
    results[1].fill_(7);  // a view of x
    expect_same(x.narrow(0, 1, n - 1), full({n - 1, 2}, 7.0));
    EXPECT_FALSE(results[2].size(0).is_traced());
    EXPECT_FALSE(results[1].numel().is_traced());
  }
}

TEST(VaryingSizes, CallsWithEffectsHaveAPlanForEachSize) {
  Tensor sum = zeros({3});
  Tensor weight = randn({3}).requires_grad_();
  const auto f = compile(
      [&](const Tensor& x) {
        sum += x.sum(0);
        return x * weight + rand({x.size(0), 3});
      },
      kWait);
  Tensor expected_sum = zeros({3});
  for (int repeat = 0; repeat < 2; ++repeat)
    for (int64_t n = 2; n < 6; ++n) {
      const Tensor x = randn({n, 3});
      const Tensor state = get_rng_state();
      const Tensor y = f(x);
      set_rng_state(state);
      expect_same(y.detach(), (x * weight + rand({n, 3})).detach());
      expected_sum += x.sum(0);
      expect_same(sum, expected_sum);
      weight.set_grad(Tensor());
      y.sum().backward();
      expect_same(weight.grad(), x.sum(0));
    }
  EXPECT_GE(f.cache_info().hits, 3) << f.explain();
}

TEST(VaryingSizes, CodeMayAskForSizes) {
  const auto f = [](const Tensor& x) {
    if (x.size(0) % 2 == 0) return x.sum(0);
    const Shape shape = x.shape();  // reads all sizes
    return x * static_cast<double>(shape[0]);
  };
  const auto fast = compile(f, {.max_cache_entries = 64, .wait = true});
  for (int repeat = 0; repeat < 2; ++repeat)
    for (int64_t n = 2; n < 12; ++n) {
      const Tensor x = randn({n, 2});
      expect_same(fast(x), f(x));
    }
}

}  // namespace
}  // namespace lucid
