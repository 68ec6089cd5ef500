// What a compiled function depends on other than the values of tensors: other ways that it takes, handles, errors.

#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <cmath>
#include <optional>

#include "optim/expect_same.h"

namespace lucid {
namespace {

const CompileOptions kWait = {.wait = true};

TEST(CompileNotices, ACapturedArgumentWhenAnotherCallGoesAnotherWay) {
  const Tensor c = full({2}, 10.0), y = full({2}, 3.0);
  const auto by_number = [&](const Tensor& x, Number k) { return k > 0 ? x + c : -x; };
  const auto fast = compile(by_number, kWait);
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const auto& [x, k] : {std::pair(c, 1), std::pair(y, -1), std::pair(y, 1), std::pair(c, -1)})
      expect_same(fast(x, k), by_number(x, k));
}

TEST(CompileNotices, ACapturedArgumentWhenAnotherCallReadsOtherValues) {
  const Tensor c = full({2}, 10.0), y = full({2}, 3.0), yes = tensor({1.0f}), no = tensor({0.0f});
  const auto by_value = [&](const Tensor& x, const Tensor& k) { return k.item<bool>() ? x + c : -x; };
  const auto fast = compile(by_value, kWait);
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const auto& [x, k] : {std::pair(c, yes), std::pair(y, no), std::pair(y, yes), std::pair(c, no)})
      expect_same(fast(x, k), by_value(x, k));
}

TEST(CompileNotices, ArgumentsThatLiveOnShareAPlanThatReadsValues) {
  const Tensor yes = tensor({1.0f});
  const auto fast = compile([](const Tensor& x, const Tensor& k) { return k.item<bool>() ? x * 2 : -x; }, kWait);
  std::vector<Tensor> batches;
  for (int i = 0; i < 20; ++i) batches.push_back(full({2}, static_cast<double>(i)));
  for (const Tensor& batch : batches) expect_same(fast(batch, yes), batch * 2);
  EXPECT_LE(fast.cache_info().compiles, 2);
}

TEST(CompileNotices, EffectsOnAnArgumentWhoseSizesAreTraced) {
  const auto f = [](Tensor x) {
    if (x.size(0) == 5) {
      x.requires_grad_();
      (x * x).sum().backward();
    }
    return x.detach() * 2.0;
  };
  const auto fast = compile(f, kWait);
  fast(ones({4}));
  Tensor x = ones({5}), y = ones({5});
  fast(x);
  f(y);
  EXPECT_TRUE(x.requires_grad());
  ASSERT_TRUE(x.grad().defined());
  expect_same(x.grad(), y.grad());
  // The gradient state is that of the argument from now on.
  (x * 3).sum().backward();
  (y * 3).sum().backward();
  expect_same(x.grad(), y.grad());
}

TEST(CompileNotices, AnotherShapeOfAnArgumentWhoseSizesAreTraced) {
  const auto f = [](Tensor x) {
    if (x.size(0) == 5) x.unsqueeze_(0);
    return x * 2;
  };
  const auto fast = compile(f, kWait);
  fast(ones({4, 2}));
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Tensor x = ones({5, 2});
    EXPECT_EQ(fast(x).dim(), 3);
    EXPECT_EQ(x.shape(), (Shape{1, 5, 2}));
  }
}

TEST(CompileNotices, EffectsOnAnArgumentBeforeAnError) {
  const auto fast = compile(
      [](Tensor x) {
        if (x.size(0) != 5) return x * 2.0;
        x.set_grad(full({5}, 7.0));
        throw ValueError("stop");
      },
      kWait);
  fast(ones({4}));
  Tensor x = ones({5});
  EXPECT_THROW(fast(x), ValueError);
  ASSERT_TRUE(x.grad().defined());
  expect_same(x.grad(), full({5}, 7.0));
}

TEST(CompileNotices, TheGradientOfAnArgumentWhoseSizesVary) {
  const auto f = [](const Tensor& x) { return x.size(0) == 5 && x.grad().defined() ? x.grad() * 1.0 : x * 2.0; };
  const auto fast = compile(f, kWait);
  fast(ones({4}));
  Tensor x = ones({5});
  x.set_grad(full({5}, 7.0));
  expect_same(fast(x), f(x));
}

TEST(CompileNotices, InPlaceOpsOnAViewWhoseSizesAreTraced) {
  const Tensor w = full({1}, 3.0).requires_grad_();
  const auto f = [&](Tensor x) {
    if (x.size(0) == 3) x.mul_(w);
    return x.detach() + 1;
  };
  const auto fast = compile(f, kWait);
  fast(ones({4}));
  Tensor mine = ones({6}), eager = ones({6});
  fast(Tensor(mine.narrow(0, 1, 3)));
  f(eager.narrow(0, 1, 3));
  EXPECT_EQ(mine.requires_grad(), eager.requires_grad());
  expect_same(mine.detach(), eager.detach());
}

TEST(CompileNotices, ErrorsThatTheFunctionCatches) {
  const Tensor c = ones({3});
  const auto f = [&](const Tensor& x) {
    try {
      return x + c;
    } catch (const ValueError&) {
      return x * 10.0;
    }
  };
  for (const auto dynamic : {std::optional<bool>(), std::optional<bool>(true)}) {
    const auto fast = compile(f, {.wait = true, .dynamic = dynamic});
    for (const int n : {5, 4, 6, 3, 5, 3, 1}) expect_same(fast(ones({n})), f(ones({n})));
    EXPECT_NE(fast.explain().find("catches an error"), std::string::npos) << fast.explain();
  }
}

TEST(CompileNotices, ErrorsThatDependOnACapturedTensor) {
  Tensor w = ones({2}).requires_grad_();
  const auto fast = compile(
      [&](const Tensor& x) {
        try {
          w += x;
        } catch (const RuntimeError&) {
        }
        return x * 2.0;
      },
      kWait);
  fast(ones({2}));
  w.requires_grad_(false);
  fast(ones({2}));
  expect_same(w, full({2}, 2.0));
}

TEST(CompileNotices, PropertiesOfACapturedTensorThatNoOpUses) {
  Tensor w = ones({2});
  const auto f = [&](const Tensor& x) {
    if (w.requires_grad()) (w * x).sum().backward();
    return x * 2.0;
  };
  const auto fast = compile(f, kWait);
  fast(ones({2}));
  w.requires_grad_();
  fast(ones({2}));
  EXPECT_TRUE(w.grad().defined());
}

TEST(CompileNotices, WhetherAnArgumentIsACapturedTensor) {
  const Tensor c = ones({2}), y = ones({2});
  const auto f = [&](const Tensor& x) { return x.is_same(c) ? x + 1 : x * 5; };
  const auto fast = compile(f, kWait);
  for (const Tensor& x : {y, c, y, c}) expect_same(fast(x), f(x));
}

TEST(CompileNotices, TheTextOfASize) {
  const auto f = [](const Tensor& x) { return x * static_cast<double>(to_string(x.size(0)).size()); };
  const auto fast = compile(f, kWait);
  for (const int n : {12, 13, 3, 14, 5}) expect_same(fast(ones({n})), f(ones({n})));
}

TEST(CompileNotices, TheSizesInTheTextOfAnEmptyTensor) {
  const auto f = [](const Tensor& x) { return x * static_cast<double>(x.narrow(1, 0, 0).detach().to_string().size()); };
  const auto fast = compile(f, kWait);
  for (const int n : {12, 13, 3, 140, 5}) expect_same(fast(ones({n, 2})), f(ones({n, 2})));
}

TEST(CompileNotices, OtherNans) {
  const auto f = [](const Tensor& x, double k) { return x.masked_fill(x > 0, k); };
  const auto fast = compile(f, kWait);
  const Tensor x = ones({1}, kFloat64);
  const auto sign = [](const Tensor& nan) { return std::signbit(nan.item<double>()); };
  const bool expected = sign(f(x, -std::nan("")));
  EXPECT_EQ(sign(f(x, std::nan(""))), expected);
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(sign(fast(x, -std::nan(""))), expected);
}

TEST(CompileNotices, WhatAnInnerFunctionDependsOn) {
  double scale = 2;
  const auto inner =
      compile([&](const Tensor& x) { return x * scale; }, {.wait = true, .depends_on = [&] { return scale; }});
  const auto outer = compile([&](const Tensor& x) { return inner(x) + 0.0; }, kWait);
  for (const double each : {2.0, 6.0, 2.0, 3.0}) {
    scale = each;
    expect_same(outer(ones({2})), full({2}, each));
  }
}

TEST(CompileNotices, AnIndexedTensorIsPassedAsATensor) {
  const auto fast = compile([](const Tensor& x) { return x * 2; }, kWait);
  Tensor x = randn({3, 4});
  for (int i = 0; i < 3; ++i) expect_same(fast(x[i]), x[i] * 2);
}

TEST(ModulesByDefaultOptions, AreComplete) {
  expect_same((*nn::make<nn::PReLU>())(-ones({2})).detach(), full({2}, -0.25));
}

}  // namespace
}  // namespace lucid
