// Compiled functions that keep tensors which they create, in variables from outside.

#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <map>

#include "optim/expect_same.h"

namespace lucid {
namespace {

const CompileOptions kWait = {.wait = true};

TEST(CompileKeeps, AResult) {
  Tensor hidden = zeros({2}), expected = hidden;
  const auto fast = compile(
      [&](const Tensor& x) {
        hidden = (hidden * 0.5 + x).tanh();
        return hidden;
      },
      kWait);
  for (int i = 0; i < 5; ++i) {
    expected = (expected * 0.5 + full({2}, i)).tanh();
    expect_same(fast(full({2}, i)), expected);
    expect_same(hidden, expected);
  }
  EXPECT_NE(fast.explain().find("keeps a tensor that it creates"), std::string::npos);
}

TEST(CompileKeeps, AnIntermediate) {
  std::vector<Tensor> kept;
  const auto fast = compile(
      [&](const Tensor& x) {
        kept.push_back(x * 2);
        return x + 1;
      },
      kWait);
  for (int i = 0; i < 5; ++i) fast(full({1}, i));
  ASSERT_EQ(kept.size(), 5U);
  EXPECT_EQ(kept.back().item<float>(), 8);
}

TEST(CompileKeeps, AView) {
  Tensor last;
  const auto fast = compile(
      [&](const Tensor& x) {
        last = x[0];
        return x + 1;
      },
      kWait);
  for (int i = 0; i < 5; ++i) {
    fast(full({2}, i));
    EXPECT_EQ(last.item<float>(), i);
  }
}

TEST(CompileKeeps, AGradient) {
  const Tensor w = ones({1}).requires_grad_();
  Tensor last;
  const auto fast = compile(
      [&](const Tensor& x) {
        Tensor(w).set_grad(Tensor());
        (w * x).sum().backward();
        last = w.grad();
      },
      kWait);
  for (int i = 0; i < 5; ++i) {
    fast(full({1}, i));
    EXPECT_EQ(last.item<float>(), i);
  }
}

// Only the first call creates what the others find.
TEST(CompileKeeps, ACache) {
  std::map<int64_t, Tensor> cache;
  const auto f = [&](const Tensor& x) {
    const int64_t size = x.size(0);
    const auto found = cache.find(size);
    return x + (found != cache.end() ? found : cache.emplace(size, arange(size).to(kFloat32) * 2).first)->second;
  };
  const auto fast = compile(f, {.wait = true, .dynamic = false});
  for (int i = 0; i < 6; ++i)
    for (const int64_t size : {2, 3}) expect_same(fast(full({size}, i)), f(full({size}, i)));
  EXPECT_EQ(fast.cache_info().hits, 8);
}

TEST(CompileKeeps, WhatIsReturnedOrAGradientIsNotKept) {
  const Tensor w = ones({2}).requires_grad_();
  const auto views = compile(
      [](const Tensor& x) {
        const Tensor y = x.exp();
        return std::vector<Tensor>{y, y.t(), y[0], y, (x * 2)[1]};
      },
      kWait);
  const auto gradients = compile(
      [&](const Tensor& x) {
        Tensor leaf = zeros({2}).requires_grad_();
        const Tensor product = (w + leaf) * x;
        product.sum().backward();
        return std::vector<Tensor>{product.detach(), leaf.grad(), w.grad()};
      },
      kWait);
  const auto graph = compile([&](const Tensor& x) { return (w.exp() * x).relu(); }, kWait);
  for (int i = 0; i < 4; ++i) {
    views(ones({2}));
    gradients(ones({2}));
    graph(ones({2}));
  }
  EXPECT_GE(views.cache_info().hits, 2);
  EXPECT_GE(gradients.cache_info().hits, 2) << gradients.explain();
  EXPECT_GE(graph.cache_info().hits, 2);
}

}  // namespace
}  // namespace lucid
