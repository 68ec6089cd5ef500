#include "lucid/compile.h"

#include <algorithm>

#include "../tensor/support.h"
#include "lucid/lucid.h"

namespace lucid {
namespace {

using namespace lucid::testing;

TEST(Compile, RunsAPlanFromTheSecondCallOn) {
  int calls = 0;
  const auto f = compile([&](const Tensor& x, const Tensor& y) {
    ++calls;
    return lucid::sum(x * y + x);
  });
  EXPECT_EQ(calls, 0);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = randn({3, 3});
    const Tensor y = randn({3, 3});
    EXPECT_EQ(read(f(x, y)), read(lucid::sum(x * y + x)));
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(f.cache_info().hits, 3);
  EXPECT_EQ(f.cache_info().compiles, 1);
  f.invalidate_cache();
  f(randn({3, 3}), randn({3, 3}));
  EXPECT_EQ(calls, 2);
}

TEST(Compile, PlansDependOnTypesStridesAndModes) {
  const auto f = compile([](const Tensor& x) { return exp(x) * 2.0; });
  const Tensor arguments[] = {randn({2, 3}), randn({3, 2}), randn({2, 3}, kFloat64), transpose(randn({3, 2}), 0, 1),
                              randn({2, 3}).requires_grad_()};
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const Tensor& x : arguments) EXPECT_EQ(read(f(x)), read(exp(x) * 2.0));
  EXPECT_EQ(f.cache_info().compiles, 5);
  EXPECT_TRUE(f(arguments[4]).requires_grad());
  {
    const NoGrad no_grad;
    EXPECT_FALSE(f(arguments[4]).requires_grad());
    EXPECT_EQ(f.cache_info().compiles, 6);
  }
  EXPECT_EQ(f.cache_info().entries, 6u);
}

TEST(Compile, ReadsAndWritesCapturedTensors) {
  Tensor weight = randn({4}).requires_grad_();
  Tensor count = zeros({1});
  const auto f = compile([&](const std::vector<Tensor>& xs) -> std::vector<Tensor> {
    count += 1.0;
    return {xs[0] * weight, xs[1] + count};
  });
  for (int i = 1; i < 5; ++i) {
    const Tensor x = randn({4});
    const std::vector<Tensor> results = f(std::vector<Tensor>{x, x});
    EXPECT_EQ(count.item<float>(), static_cast<float>(i));
    EXPECT_EQ(read(results[0]), read(x * weight));
    EXPECT_EQ(read(results[1]), read(x + static_cast<double>(i)));
    weight.set_grad(Tensor());
    lucid::sum(results[0]).backward();
    EXPECT_EQ(read(weight.grad()), read(x));
    const NoGrad no_grad;
    weight -= weight.grad();
  }
  EXPECT_EQ(f.cache_info().compiles, 1);
}

// ctest runs each test in a process of its own, so nothing has used the generator before.
TEST(Compile, MayUseAnArgumentThroughAHandleOfItsOwn) {
  const auto f = compile([](const Tensor& x) { return x.detach() * 2.0; });
  for (const double value : {1.0, 2.0, 3.0}) EXPECT_EQ(read(f(full({2}, value))), std::vector<double>(2, 2 * value));
  EXPECT_EQ(f.cache_info().hits, 2);
}

TEST(Compile, ArgumentsMayBeViewsOfCapturedTensors) {
  Tensor all = arange(6).to(kFloat64);
  const auto expect_all = [&](const auto& function) {
    const auto f = compile(function);
    for (int i = 0; i < 6; ++i) {
      const Tensor x = i % 2 == 0 ? all.narrow(0, i, 1) : full({1}, i, kFloat64);
      EXPECT_EQ(read(f(x)), read(function(x))) << i;
    }
    EXPECT_GE(f.cache_info().hits, 2);
  };
  // The argument, or the captured tensor, is used first.
  expect_all([&](const Tensor& x) { return x.sum() + all; });
  expect_all([&](const Tensor& x) {
    const Tensor twice = all * 2.0;
    return twice + x.sum();
  });
  expect_all([&](const Tensor& x) {
    const Tensor sum = x.detach().sum();
    return all.detach() + sum;
  });
  expect_all([&](const Tensor& x) {
    const Tensor sum = x.sum();
    Tensor copy = zeros({2, 6}, kFloat64);
    copy.copy_(all);
    return copy + sum;
  });
  expect_all([&](const Tensor& x) { return where(x > 2.0, all, x); });
}

TEST(Compile, AnArgumentMayBeACapturedTensorItself) {
  Tensor c = ones({2});
  const auto f = [&](const Tensor& x) { return x + c * 10.0; };
  const auto fast = compile(f);
  const auto as_item = compile([&](const std::vector<Tensor>& xs) { return xs[0] + c * 10.0; });
  for (const Tensor& x : {c, c, zeros({2}), ones({2}), c, full({2}, 3.0)}) {
    EXPECT_EQ(read(fast(x)), read(f(x)));
    EXPECT_EQ(read(as_item(std::vector<Tensor>{x})), read(f(x)));
  }
  const auto returns = compile([&](const Tensor& x) { return std::pair(x * 2.0, c); });
  for (const Tensor& x : {c, zeros({2}), ones({2})}) EXPECT_TRUE(returns(x).second.is_same(c));

  Tensor s = zeros({2});
  const auto counts = compile([&](const Tensor& x) {
    s += 1.0;
    return x * 1.0;
  });
  const Tensor other = zeros({2});
  for (int i = 1; i <= 6; ++i) EXPECT_EQ(read(counts(i % 3 == 1 ? s : other))[0], i % 3 == 1 ? i : 0) << i;
  EXPECT_EQ(read(s), std::vector<double>(2, 6));
  EXPECT_EQ(read(other), std::vector<double>(2, 0));
}

TEST(Compile, ArgumentsThatLiveOnAreNotTakenForCapturedOnes) {
  const auto f = compile([](const Tensor& x) { return x * 2.0; });
  const Tensor a = ones({2}), b = zeros({2}), c = full({2}, 5.0);
  for (int i = 0; i < 3; ++i)
    for (const Tensor& x : {a, b, c}) EXPECT_EQ(read(f(x)), read(x * 2.0));
  EXPECT_EQ(f.cache_info().compiles, 2);
  EXPECT_EQ(f.cache_info().hits, 7);
}

TEST(Compile, MayUseOnlyTheGradientOfACapturedTensor) {
  Tensor w = ones({2}).requires_grad_();
  const auto halves = compile([&] {
    Tensor gradient = w.grad();
    gradient *= 0.5;
  });
  w.set_grad(full({2}, 16.0));
  for (int i = 0; i < 4; ++i) halves();
  EXPECT_EQ(read(w.grad()), std::vector<double>(2, 1));
  EXPECT_EQ(halves.cache_info().hits, 3) << halves.explain();
}

TEST(Compile, ReturnsACapturedTensorThatAnArgumentIsAViewOf) {
  Tensor all = arange(6).to(kFloat64);
  const auto f = compile([&](const Tensor& x) { return std::pair(x.sum(), all); });
  for (int i = 0; i < 6; ++i) {
    const auto [sum, captured] = f(i % 2 == 0 ? all.narrow(0, i, 1) : full({1}, i, kFloat64));
    EXPECT_EQ(sum.item<double>(), i);
    EXPECT_TRUE(captured.is_same(all));
  }
}

TEST(Compile, WritesToACapturedTensorThatAnArgumentIsAViewOf) {
  Tensor all = zeros({6}, kFloat64), expected = zeros({6}, kFloat64);
  const auto step = [](Tensor& state, const Tensor& x) {
    const Tensor sum = x.sum();
    state += 1.0;
    return sum;
  };
  const auto f = compile([&](const Tensor& x) { return step(all, x); });
  for (int i = 0; i < 6; ++i) {
    const bool is_view = i % 2 == 0;
    const Tensor alone = full({1}, 7.0, kFloat64);
    EXPECT_EQ(read(f(is_view ? all.narrow(0, i, 1) : alone)),
              read(step(expected, is_view ? expected.narrow(0, i, 1) : alone)));
    EXPECT_EQ(read(all), read(expected)) << i;
    EXPECT_EQ(read(alone), std::vector<double>{7.0});
  }
}

TEST(Compile, MayBeTheFirstToUseTheGenerator) {
  const auto f = compile([] { return rand({4}); });
  std::vector<std::vector<double>> compiled, eager;
  for (int i = 0; i < 3; ++i) compiled.push_back(read(f()));
  EXPECT_EQ(f.cache_info().hits, 2);
  const std::vector<double> state = read(get_rng_state());
  set_rng_state(tensor({static_cast<int64_t>(state[0]), static_cast<int64_t>(state[1]) - 12}));
  for (int i = 0; i < 3; ++i) eager.push_back(read(rand({4})));
  EXPECT_EQ(compiled, eager);
}

TEST(Compile, EvictsTheOldestPlanFirst) {
  const auto f = compile([](const Tensor& x) { return x + 1.0; }, {.max_cache_entries = 2, .dynamic = false});
  for (int64_t size : {1, 2, 3}) f(ones({size}));
  EXPECT_EQ(f.cache_info().entries, 2u);
  f(ones({3}));
  f(ones({2}));
  EXPECT_EQ(f.cache_info().hits, 2);
  f(ones({1}));
  EXPECT_EQ(f.cache_info().compiles, 4);
  EXPECT_THROW(compile([](const Tensor& x) { return x; }, {.max_cache_entries = 0}), ValueError);
}

TEST(Compile, FunctionsThatReadValuesRunEagerly) {
  const auto f = compile([](const Tensor& x) { return lucid::sum(x).item<float>() > 0 ? x + 1.0 : x - 1.0; });
  for (double sign : {1.0, -1.0, 1.0, -1.0}) EXPECT_EQ(f(ones({2}) * sign).to_vector<float>()[0], 2 * sign);
  EXPECT_EQ(f.cache_info().compiles, 0);
  EXPECT_NE(f.explain().find("runs eagerly: reads a value of a tensor"), std::string::npos) << f.explain();
}

TEST(Compile, EvictsKeysThatHaveNoPlan) {
  const auto f = compile([](const Tensor& x) { return x * lucid::sum(x).item<double>(); }, {.max_cache_entries = 600});
  for (int64_t size = 1; size <= 500; ++size) f(ones({size}));
  const std::string text = f.explain();
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 70);
  const int64_t misses = f.cache_info().misses;
  f(ones({500}));
  EXPECT_EQ(f.cache_info().misses, misses);  // the newest key is remembered
  f(ones({1}));
  EXPECT_EQ(f.cache_info().misses, misses + 1);
}

TEST(Compile, ErrorsAreThoseOfTheFunction) {
  const auto f = compile([](const Tensor& x, const Tensor& y) { return matmul(x, y); });
  for (int i = 0; i < 2; ++i) EXPECT_THROW(f(ones({2, 3}), ones({2, 3})), ValueError);
  EXPECT_EQ(read(f(ones({2, 3}), ones({3, 2}))), read(matmul(ones({2, 3}), ones({3, 2}))));
}

TEST(Compile, FunctionsThatKeepRaisingRunEagerlyUntilTheyReturn) {
  bool raises = true;
  const auto f = compile([&](const Tensor& x) {
    if (raises) throw ValueError("no batch");
    return x * 2.0;
  });
  for (int i = 0; i < 5; ++i) EXPECT_THROW(f(ones({2})), ValueError);
  EXPECT_NE(f.explain().find("raised no batch"), std::string::npos) << f.explain();
  raises = false;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(read(f(ones({2}))), read(ones({2}) * 2.0));
  EXPECT_EQ(f.cache_info().compiles, 1);
  EXPECT_EQ(f.cache_info().misses, 7);
  EXPECT_EQ(f.cache_info().hits, 2);
}

TEST(Compile, ACompiledFunctionInsideAnotherIsPartOfIt) {
  const auto inner = compile([](const Tensor& x) { return x * 2.0; });
  const auto outer = compile([&](const Tensor& x) { return inner(x) + 1.0; });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = randn({3});
    EXPECT_EQ(read(outer(x)), read(x * 2.0 + 1.0));
  }
  EXPECT_EQ(outer.cache_info().hits, 2);
  EXPECT_EQ(inner.cache_info().misses, 0);
}

}  // namespace
}  // namespace lucid
