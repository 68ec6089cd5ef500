#include "tensor/engine.h"

#include "support.h"
#include "tensor/node.h"

namespace lucid::testing {
namespace {

TEST(Backward, SumsOverBroadcastDimensions) {
  Tensor x = leaf({2, 3}), row = leaf({3}), number = leaf({});
  sum(x * row * number).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(read(row.grad()), (Numbers{5, 7, 9}));
  EXPECT_EQ(read(number.grad()), (Numbers{1 + 4 + 9 + 4 + 10 + 18}));
  EXPECT_EQ(number.grad().shape(), Shape{});
}

TEST(Backward, AccumulatesInPlace) {
  Tensor x = leaf({2});
  sum(x * 2.0).backward();
  Tensor held = x.grad();
  sum(x * 3.0).backward();
  EXPECT_TRUE(x.grad().is_same(held));
  EXPECT_EQ(read(held), (Numbers{5, 5}));
}

TEST(Backward, GradientsOfTwoLeavesDoNotShareMemory) {
  Tensor x = leaf({2}), y = leaf({2});
  sum(x + y).backward();
  x.grad().zero_();
  EXPECT_EQ(read(y.grad()), (Numbers{1, 1}));
}

TEST(Backward, TheCallersGradientIsNotTaken) {
  Tensor x = leaf({2});
  Tensor gradient = counting({2});
  (x + 0.0).backward(gradient);
  sum(x).backward();
  EXPECT_EQ(read(gradient), (Numbers{1, 2}));
  EXPECT_EQ(read(x.grad()), (Numbers{2, 3}));
}

TEST(Backward, AFreshGradientHasTheLeafsLayout) {
  Tensor x = transpose(counting({2, 3})).requires_grad_();
  sum(x * 2.0).backward();
  EXPECT_EQ(x.grad().strides(), x.strides());
}

TEST(Backward, GradientsHaveTheOperandsDtype) {
  Tensor x = wrap(eager().to(value_of(counting({2})), Dtype::kF32)).requires_grad_();
  Tensor y = leaf({2});
  sum(x * y).backward();
  EXPECT_EQ(x.grad().dtype(), kFloat32);
  EXPECT_EQ(y.grad().dtype(), kFloat64);
}

TEST(Backward, AddsInTheOrderOfTheGraphBackwards) {
  // 2^53 + 1 + 1: the order decides the sum.
  Tensor x = leaf({1});
  const double big = 9007199254740992.0;
  Tensor first = x * 1.0, second = x * 1.0, third = x * big;
  sum(first + second + third).backward();
  EXPECT_EQ(read(x.grad()), Numbers{big});
  Tensor y = leaf({1});
  Tensor large = y * big, one = y * 1.0, other = y * 1.0;
  sum(large + one + other).backward();
  EXPECT_EQ(read(y.grad()), Numbers{big + 2});
}

TEST(Backward, NeedsAGradientForSeveralElements) {
  Tensor x = leaf({2});
  expect_error(ErrorClass::kRuntime, "outputs of one element", [&] { (x * 2.0).backward(); });
  expect_error(ErrorClass::kRuntime, "has shape", [&] { (x * 2.0).backward(counting({3})); });
  expect_error(ErrorClass::kRuntime, "does not require grad", [&] { counting({1}).backward(); });
}

TEST(Backward, ASecondTimeNeedsTheGraphRetained) {
  Tensor x = leaf({2});
  Tensor y = sum(x * x);
  y.backward(Tensor(), true);
  y.backward();
  expect_error(ErrorClass::kRuntime, "second time", [&] { y.backward(); });
  EXPECT_EQ(read(x.grad()), (Numbers{4, 8}));
  // Nothing is saved for a sum of sums, so nothing is freed.
  Tensor z = sum(x + x);
  z.backward();
  z.backward();
}

TEST(Backward, HigherDerivatives) {
  Tensor x = leaf({2});
  Tensor y = sum(x * x * x);
  const Tensor first = grad({y}, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(read(first), (Numbers{3, 12}));
  const Tensor second = grad({sum(first)}, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(read(second), (Numbers{6, 12}));
  const Tensor third = grad({sum(second)}, {x})[0];
  EXPECT_EQ(read(third), (Numbers{6, 6}));
}

TEST(Backward, HigherDerivativesThroughViewsAndWrites) {
  Tensor x = leaf({3});
  Tensor y = x * 1.0;
  y[{Slice(0, 2)}] *= y[{Slice(1, 3)}];
  // y = (x0 x1, x1 x2, x2)
  Tensor loss = sum(y * y * y);
  const Tensor g = grad({loss}, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(read(g), (Numbers{3 * 1 * 8, 3 * 1 * 4 + 3 * 4 * 27, 3 * 8 * 9 + 3 * 9}));
  sum(g * g).backward();
  // d/dx0 of the sum of squares, by hand: g0 = 3 x0^2 x1^3, g1 = 3 x0^3 x1^2 + 3 x1^2 x2^3, g2 = 3 x1^3 x2^2 + 3 x2^2.
  const double x0 = 1, x1 = 2, x2 = 3, g0 = 24, g1 = 336, g2 = 243;
  const Numbers expected = {2 * g0 * 6 * x0 * x1 * x1 * x1 + 2 * g1 * 9 * x0 * x0 * x1 * x1,
                            2 * g0 * 9 * x0 * x0 * x1 * x1 + 2 * g1 * (6 * x0 * x0 * x0 * x1 + 6 * x1 * x2 * x2 * x2) +
                                2 * g2 * 9 * x1 * x1 * x2 * x2,
                            2 * g1 * 9 * x1 * x1 * x2 * x2 + 2 * g2 * (6 * x1 * x1 * x1 * x2 + 6 * x2)};
  EXPECT_EQ(read(x.grad()), expected);
}

TEST(Backward, CreateGraphAccumulatesOutOfPlace) {
  Tensor x = leaf({2});
  sum(x * x).backward(Tensor(), false, true);
  Tensor first = x.grad();
  EXPECT_TRUE(first.requires_grad());
  sum(x * x).backward(Tensor(), false, true);
  EXPECT_FALSE(x.grad().is_same(first));
  EXPECT_EQ(read(first), (Numbers{2, 4}));
  EXPECT_EQ(read(x.grad()), (Numbers{4, 8}));
  x.set_grad(Tensor());
}

TEST(Grad, LeavesOtherGradientsAlone) {
  Tensor x = leaf({2}), w = leaf({2});
  Tensor y = x * w;
  const Tensor g = grad({sum(y)}, {x})[0];
  EXPECT_EQ(read(g), (Numbers{1, 2}));
  EXPECT_FALSE(w.grad().defined());
  EXPECT_FALSE(x.grad().defined());
}

TEST(Grad, OfIntermediatesAndOfTheOutputItself) {
  Tensor x = leaf({2});
  Tensor y = x * 3.0;
  Tensor z = sum(y * y);
  const std::vector<Tensor> g = grad({z}, {y, x, z});
  EXPECT_EQ(read(g[0]), (Numbers{6, 12}));
  EXPECT_EQ(read(g[1]), (Numbers{18, 36}));
  EXPECT_EQ(read(g[2]), (Numbers{1}));
}

TEST(Grad, RefusesOrAllowsUnusedInputs) {
  Tensor x = leaf({2}), unused = leaf({2});
  expect_error(ErrorClass::kRuntime, "allow_unused", [&] { grad({sum(x * x)}, {unused}); });
  const std::vector<Tensor> g = grad({sum(x * x)}, {unused, x}, {}, {.allow_unused = true});
  EXPECT_FALSE(g[0].defined());
  EXPECT_TRUE(g[1].defined());
  expect_error(ErrorClass::kRuntime, "does not require grad", [&] { grad({sum(x)}, {counting({2})}); });
}

TEST(Grad, ResultsDoNotShareMemory) {
  Tensor x = leaf({2}), y = leaf({2});
  const Tensor weight = counting({2});
  std::vector<Tensor> g = grad({x + y}, {x, y}, {weight});
  g[0].zero_();
  EXPECT_EQ(read(g[1]), (Numbers{1, 2}));
  EXPECT_EQ(read(weight), (Numbers{1, 2}));
}

TEST(Hooks, SeeReplaceAndAreRemoved) {
  Tensor x = leaf({2});
  Tensor y = x * 2.0;
  int calls = 0;
  const auto remove = register_hook(y, [&](const Tensor& gradient) {
    ++calls;
    return gradient * 5.0;
  });
  const auto leaf_hook = register_hook(x, [&](const Tensor& gradient) {
    EXPECT_EQ(read(gradient), (Numbers{10, 10}));
    return Tensor();
  });
  sum(y).backward(Tensor(), true);
  EXPECT_EQ(read(x.grad()), (Numbers{10, 10}));
  leaf_hook();
  remove();
  sum(y).backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(read(x.grad()), (Numbers{12, 12}));
}

TEST(Hooks, MustKeepTheShape) {
  Tensor x = leaf({2});
  register_hook(x, [](const Tensor&) { return counting({3}); });
  expect_error(ErrorClass::kRuntime, "must not change", [&] { sum(x).backward(); });
  expect_error(ErrorClass::kRuntime, "does not require grad", [&] { register_hook(counting({1}), nullptr); });
}

TEST(Hooks, RunAfterAccumulation) {
  Tensor x = leaf({2});
  Numbers seen;
  HookHandle handle = register_post_accumulate_hook(unwrap(x), [&](const Value& gradient) -> Value {
    seen = read(wrap(gradient));
    return {};
  });
  sum(x * 2.0).backward();
  sum(x * 3.0).backward();
  EXPECT_EQ(seen, (Numbers{5, 5}));
  handle.remove();
  sum(x).backward();
  EXPECT_EQ(seen, (Numbers{5, 5}));
}

TEST(Retain, KeepsTheGradientOfAResult) {
  Tensor x = leaf({2});
  Tensor y = x * 2.0;
  y.retain_grad();
  sum(y * y).backward();
  EXPECT_EQ(read(y.grad()), (Numbers{4, 8}));
  expect_error(ErrorClass::kRuntime, "retain_grad", [] { counting({1}).retain_grad(); });
}

TEST(Backward, IntoChosenInputsOnly) {
  Tensor x = leaf({2}), w = leaf({2});
  const TensorRef outputs[] = {ref_of(sum(x * w))};
  const TensorRef inputs[] = {ref_of(x)};
  backward(outputs, {}, {}, inputs);
  EXPECT_EQ(read(x.grad()), (Numbers{1, 2}));
  EXPECT_FALSE(w.grad().defined());
}

TEST(Backward, DeepChainsNeedNoStack) {
  constexpr int kDepth = 200000;
  Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < kDepth; ++i) y = y + 1.0;
  y.backward(make({1}));
  EXPECT_EQ(read(x.grad()), (Numbers{1}));
  // The chain is destroyed here, also without recursion.
  y = Tensor();
}

TEST(Backward, DeepChainsOfWritesNeedNoStack) {
  Tensor x = leaf({2});
  Tensor y = x * 1.0;
  for (int i = 0; i < 20000; ++i) y[0] += 1.0;
  sum(y).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{1, 1}));
}

TEST(Backward, LeaksNothing) {
  const auto live = [] {
    return std::tuple(Pooled<TensorImpl>::live(), Pooled<Cell>::live(), GradNode::live(), Pooled<Storage>::live());
  };
  const auto train = [] {
    Tensor x = leaf({2, 2});
    Tensor y = exp(x * 0.1);
    Tensor view = y[0];
    view.retain_grad();
    Tensor z = view * 2.0;
    y[1].copy_(z);
    register_hook(y, [](const Tensor& gradient) { return gradient * 1.0; });
    sum(y * y).backward(Tensor(), true);
    grad({sum(y * y)}, {x}, {}, {.create_graph = true});
  };
  train();  // creates everything that lives until the process ends
  const auto before = live();
  train();
  EXPECT_EQ(live(), before);
}

TEST(Backward, AnErrorLeavesTheThreadRecording) {
  Tensor x = leaf({2});
  Tensor y = x * 2.0;
  register_hook(y, [](const Tensor&) -> Tensor { throw ValueError("from a hook"); });
  expect_error(ErrorClass::kValue, "from a hook", [&] { sum(y).backward(); });
  EXPECT_TRUE(grad_enabled());
  EXPECT_FALSE(x.grad().defined());
}

}  // namespace
}  // namespace lucid::testing
