#include "support.h"
#include "tensor/grad_mode.h"

namespace lucid::testing {
namespace {

TEST(Views, ShareMemoryBothWays) {
  Tensor x = counting({2, 3});
  Tensor row = x[1], column = x[{Slice(), 0}], turned = transpose(x);
  row.fill_(0.0);
  EXPECT_EQ(read(x), (Numbers{1, 2, 3, 0, 0, 0}));
  EXPECT_EQ(read(column), (Numbers{1, 0}));
  turned[2].fill_(5.0);
  EXPECT_EQ(read(x), (Numbers{1, 2, 5, 0, 0, 5}));
}

TEST(Views, ReshapeIsAViewExactlyWhenStridesAllow) {
  Tensor x = counting({2, 3});
  Tensor flat = reshape(x, {6});
  flat.fill_(1.0);
  EXPECT_EQ(read(x), Numbers(6, 1.0));
  Tensor copied = reshape(transpose(x), {6});
  copied.fill_(2.0);
  EXPECT_EQ(read(x), Numbers(6, 1.0));
}

TEST(Views, ContiguousOfAContiguousTensorIsTheSameHandle) {
  Tensor x = counting({2, 3});
  EXPECT_TRUE(wrap(eager().contiguous(value_of(x))).is_same(x));
  EXPECT_FALSE(wrap(eager().contiguous(value_of(transpose(x)))).is_same(x));
  EXPECT_TRUE(wrap(eager().to(value_of(x), Dtype::kF64)).is_same(x));
}

TEST(Views, FlagsFollowTheRoot) {
  Tensor x = counting({3});
  Tensor view = x[{Slice(0, 2)}];
  EXPECT_FALSE(view.requires_grad());
  x.requires_grad_();
  EXPECT_TRUE(view.requires_grad());
  EXPECT_FALSE(view.is_leaf());
  sum(view).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{1, 1, 0}));
}

TEST(Views, OfALeafAreNotLeaves) {
  Tensor x = leaf({3});
  EXPECT_TRUE(x.is_leaf());
  EXPECT_FALSE(x[0].is_leaf());
  EXPECT_FALSE((x * 2.0).is_leaf());
}

TEST(Views, MadeUnderNoGradDropGradients) {
  Tensor x = leaf({3});
  Tensor view;
  {
    const NoGrad no_grad;
    view = x[{Slice(0, 2)}];
  }
  EXPECT_TRUE(view.requires_grad());
  EXPECT_TRUE(view.is_leaf());
  (sum(view) + sum(x)).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{1, 1, 1}));
  Tensor child = view[0];
  EXPECT_FALSE(child.is_leaf());
  (child + sum(x)).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{2, 2, 2}));
}

TEST(Views, DetachSharesMemoryButNotTheGraph) {
  Tensor x = leaf({3});
  Tensor y = x * 2.0;
  Tensor detached = y.detach();
  EXPECT_FALSE(detached.requires_grad());
  EXPECT_TRUE(detached.is_leaf());
  detached.fill_(5.0);
  EXPECT_EQ(read(y), (Numbers{5, 5, 5}));
  sum(y).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{2, 2, 2}));
}

TEST(Views, HooksAndRetainedGradientsWorkOnIntermediateViews) {
  Tensor x = leaf({4});
  Tensor half = x[{Slice(0, 2)}];
  Tensor one = half[1];
  half.retain_grad();
  Numbers seen;
  register_hook(half, [&](const Tensor& gradient) {
    seen = read(gradient);
    return gradient * 10.0;
  });
  (one * 3.0).backward();
  EXPECT_EQ(seen, (Numbers{0, 3}));
  EXPECT_EQ(read(half.grad()), (Numbers{0, 30}));
  EXPECT_EQ(read(x.grad()), (Numbers{0, 30, 0, 0}));
}

TEST(Views, DataRebindsTheHandleAndLeavesViewsBehind) {
  Tensor x = counting({2});
  Tensor view = x[0];
  set_data(unwrap(x), unwrap(make({7, 8, 9})));
  EXPECT_EQ(x.shape(), Shape{3});
  EXPECT_EQ(read(view), Numbers{1});
  x.fill_(0.0);
  EXPECT_EQ(read(view), Numbers{1});
}

TEST(Views, DataOfALeafKeepsItsGradient) {
  Tensor x = leaf({2});
  sum(x * 3.0).backward();
  set_data(unwrap(x), unwrap(make({5, 6})));
  EXPECT_TRUE(x.requires_grad());
  sum(x * x).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{13, 15}));
}

TEST(GradMode, IsPerThreadAndRestored) {
  EXPECT_TRUE(grad_enabled());
  {
    const NoGrad no_grad;
    EXPECT_FALSE((leaf({2}) * 2.0).requires_grad());
    {
      const EnableGrad enable;
      EXPECT_TRUE((leaf({2}) * 2.0).requires_grad());
    }
    EXPECT_FALSE(grad_enabled());
  }
  EXPECT_TRUE(grad_enabled());
  {
    const GradModeScope inference = GradModeScope::for_inference();
    EXPECT_TRUE(GradMode::inference());
    EXPECT_FALSE(grad_enabled());
  }
  EXPECT_FALSE(GradMode::inference());
}

TEST(Leaves, FlagsAreChecked) {
  Tensor x = leaf({2});
  Tensor y = x * 2.0;
  expect_error(ErrorClass::kRuntime, "leaf", [&] { y.requires_grad_(false); });
  y.requires_grad_(true);
  Tensor integers = from_vector<int64_t>({1, 2}, {2});
  expect_error(ErrorClass::kRuntime, "floating point", [&] { integers.requires_grad_(); });
  x.requires_grad_(false);
  EXPECT_FALSE(x.requires_grad());
}

TEST(Leaves, GradientsMustFit) {
  Tensor x = leaf({2});
  expect_error(ErrorClass::kRuntime, "same dtype and shape", [&] { x.set_grad(counting({3})); });
  x.set_grad(counting({2}));
  EXPECT_EQ(read(x.grad()), (Numbers{1, 2}));
  x.set_grad(Tensor());
  EXPECT_FALSE(x.grad().defined());
}

}  // namespace
}  // namespace lucid::testing
