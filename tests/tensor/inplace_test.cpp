#include "support.h"

namespace lucid::testing {
namespace {

TEST(InPlace, ChangesTheHandleAndItsViews) {
  Tensor x = counting({3});
  Tensor view = x[{Slice(1, 3)}];
  x += 1.0;
  EXPECT_EQ(read(view), (Numbers{3, 4}));
  view *= 10.0;
  EXPECT_EQ(read(x), (Numbers{2, 30, 40}));
  apply_("neg", x);
  EXPECT_EQ(read(x), (Numbers{-2, -30, -40}));
}

TEST(InPlace, SourcesAreReadBeforeTheWrite) {
  Tensor x = counting({4});
  x[{Slice(1, 4)}].copy_(x[{Slice(0, 3)}]);
  EXPECT_EQ(read(x), (Numbers{1, 1, 2, 3}));
  Tensor square = counting({2, 2});
  square += transpose(square);
  EXPECT_EQ(read(square), (Numbers{2, 5, 5, 8}));
}

TEST(InPlace, RefusesLeavesInTheOrderOfTheRules) {
  Tensor x = leaf({3});
  expect_error(ErrorClass::kRuntime, "a leaf tensor that requires grad", [&] { x += 1.0; });
  expect_error(ErrorClass::kRuntime, "a view of a leaf", [&] { x[0].fill_(1.0); });
  Tensor view;
  {
    const NoGrad no_grad;
    view = x[0];
    x += 1.0;
  }
  EXPECT_EQ(read(x), (Numbers{2, 3, 4}));
  expect_error(ErrorClass::kRuntime, "created under no_grad", [&] { view.fill_(1.0); });
  // The error for leaves takes precedence over the one for expanded tensors.
  Tensor wide = expand(leaf({1}), {3});
  expect_error(ErrorClass::kRuntime, "a view of a leaf", [&] { wide += 1.0; });
}

TEST(InPlace, RefusesExpandedTensorsExceptForFill) {
  Tensor x = counting({1, 2});
  Tensor wide = expand(x, {3, 2});
  expect_error(ErrorClass::kRuntime, "share one memory location", [&] { wide += 1.0; });
  wide.fill_(4.0);
  EXPECT_EQ(read(x), (Numbers{4, 4}));
}

TEST(InPlace, RefusesResultsThatDoNotFit) {
  Tensor x = counting({2});
  expect_error(ErrorClass::kRuntime, "does not fit", [&] { x += counting({3, 2}); });
  Tensor integers = from_vector<int64_t>({1, 2}, {2});
  expect_error(ErrorClass::kRuntime, "cannot be stored", [&] { integers += 0.5; });
  integers += 3;
  EXPECT_EQ(integers.to_vector<int64_t>(), (std::vector<int64_t>{4, 5}));
  expect_error(ErrorClass::kRuntime, "does not broadcast", [&] { x.copy_(counting({3})); });
}

TEST(InPlace, SavedTensorsKeepTheirValue) {
  Tensor x = leaf({3});
  Tensor y = exp(x);
  Tensor z = y * y;
  y *= 3.0;
  sum(z).backward();
  const Numbers g = read(x.grad());
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(g[i], 2 * std::exp(2.0 * static_cast<double>(i + 1)), 1e-9 * g[i]);
}

TEST(InPlace, DataWritesDoNotReachSavedTensors) {
  Tensor x = leaf({3});
  Tensor y = x * 2.0;
  Tensor z = y * y;
  y.detach().zero_();
  sum(z).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{8, 16, 24}));
}

TEST(InPlace, RecordsOnTheWholeTensor) {
  Tensor x = leaf({3});
  Tensor y = x * 2.0;
  y *= y;
  sum(y).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{8, 16, 24}));
}

TEST(InPlace, RecordsThroughViews) {
  Tensor x = leaf({2, 2});
  Tensor y = x * 1.0;
  y[0] *= 10.0;
  EXPECT_EQ(read(y), (Numbers{10, 20, 3, 4}));
  sum(y * y).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{200, 400, 6, 8}));
}

TEST(InPlace, AViewSeesARecordedWriteThroughItsRoot) {
  Tensor x = leaf({3});
  Tensor y = x * 1.0;
  Tensor view = y[{Slice(0, 2)}];
  y *= 3.0;
  sum(view * view).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{18, 36, 0}));
}

TEST(InPlace, AnExpandedViewSeesARecordedWriteThroughItsRoot) {
  Tensor x = leaf({2});
  Tensor y = x * 1.0;
  Tensor wide = expand(y, {3, 2});
  y *= 2.0;
  sum(wide * counting({3, 2})).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{2 * (1 + 3 + 5), 2 * (2 + 4 + 6)}));
}

TEST(InPlace, ASourceThatRequiresGradMakesAPlainTensorPartOfTheGraph) {
  Tensor w = leaf({2});
  Tensor out = make(Numbers(4, 0.0), {2, 2});
  Tensor second = out[1];
  out[0].copy_(w);
  EXPECT_TRUE(out.requires_grad());
  EXPECT_FALSE(out.is_leaf());
  EXPECT_TRUE(second.requires_grad());
  second.copy_(w * w);
  sum(out * counting({2, 2})).backward();
  EXPECT_EQ(read(w.grad()), (Numbers{1 + 2 * 3, 2 + 2 * 2 * 4}));
}

TEST(InPlace, LoopsThatFillATensorHaveTheRightGradient) {
  Tensor w = leaf({1});
  Tensor out = make(Numbers(6, 1.0), {6});
  for (int64_t i = 1; i < 6; ++i) out[{Slice(i, i + 1)}].copy_(out[{Slice(i - 1, i)}] * w * 2.0);
  // out[i] = (2w)^i, so the sum of derivatives at w = 1 is the sum of i * 2^i.
  sum(out).backward();
  EXPECT_EQ(read(w.grad()), (Numbers{2 + 8 + 24 + 64 + 160}));
}

TEST(InPlace, OverwrittenValuesGetAGradientOfZeros) {
  Tensor x = leaf({2});
  Tensor y = x * 1.0;
  y.copy_(counting({2}));
  sum(y).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{0, 0}));
  Tensor z = x * 1.0;
  z.zero_();
  sum(z).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{0, 0}));
}

TEST(InPlace, FillThroughAnExpandedViewIsRecorded) {
  Tensor x = leaf({1, 3});
  Tensor y = x * 1.0;
  expand(y, {2, 3}).fill_(3.0);
  EXPECT_EQ(read(y), (Numbers{3, 3, 3}));
  sum(y).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{0, 0, 0}));
}

TEST(InPlace, RootsWithPermutedMemoryPassGradientsToTheRightPlaces) {
  Tensor x = leaf({2, 3});
  Tensor y = transpose(x) * 1.0;  // has the layout of x
  EXPECT_FALSE(y.is_contiguous());
  Tensor flat = reshape(transpose(y), {6});
  flat[{Slice(1, 3)}].fill_(0.0);
  EXPECT_EQ(read(y), (Numbers{1, 4, 0, 5, 0, 6}));
  sum(y * counting({3, 2})).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{1, 0, 0, 2, 4, 6}));
}

TEST(InPlace, ADetachedPartIsARootOfItsOwn) {
  Tensor base = counting({2, 4});
  Tensor part = base[{Slice(), Slice(0, 4, 2)}].detach();
  Tensor w = leaf({2});
  part[1].copy_(w * 5.0);
  EXPECT_EQ(read(base), (Numbers{1, 2, 3, 4, 5, 6, 10, 8}));
  EXPECT_TRUE(part.requires_grad());
  EXPECT_FALSE(base.requires_grad());
  sum(part * counting({2, 2})).backward();
  EXPECT_EQ(read(w.grad()), (Numbers{15, 20}));
}

TEST(InPlace, HooksOfTheOldNodeAreNotMoved) {
  Tensor x = leaf({2});
  Tensor y = x * 1.0;
  y.retain_grad();
  int calls = 0;
  register_hook(y, [&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  y *= 2.0;
  sum(y * 3.0).backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(read(y.grad()), (Numbers{3, 3}));  // the gradient of the current value
  EXPECT_EQ(read(x.grad()), (Numbers{6, 6}));
}

TEST(InPlace, IntegersTakeNoPartInGradients) {
  Tensor w = leaf({2});
  Tensor integers = from_vector<int64_t>({0, 0}, {2});
  integers.copy_(w);
  EXPECT_FALSE(integers.requires_grad());
  EXPECT_EQ(integers.to_vector<int64_t>(), (std::vector<int64_t>{1, 2}));
}

}  // namespace
}  // namespace lucid::testing
