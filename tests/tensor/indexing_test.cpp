#include "tensor/indexing.h"

#include "support.h"

namespace lucid::testing {
namespace {

Tensor integers(const std::vector<int64_t>& values, const Shape& shape) { return from_vector(values, shape); }
Tensor mask(const std::vector<uint8_t>& values, const Shape& shape) { return from_data(values.data(), shape, kBool); }

TEST(GetItem, BasicKeysAreViews) {
  Tensor x = counting({3, 4});
  EXPECT_EQ(read(x[-1]), (Numbers{9, 10, 11, 12}));
  EXPECT_EQ(read(x[{Slice(1, 3), Slice(0, 4, 2)}]), (Numbers{5, 7, 9, 11}));
  EXPECT_EQ((x[{kNone, kEllipsis, 0}]).shape(), (Shape{1, 3}));
  EXPECT_EQ((x[{Slice(-2, 100)}]).shape(), (Shape{2, 4}));
  EXPECT_EQ((x[{Slice(2, 1)}]).shape(), (Shape{0, 4}));
  x[{1, 2}].fill_(0.0);
  EXPECT_EQ(read(x)[6], 0);
  Tensor all = x[{kEllipsis}];
  EXPECT_FALSE(all.is_same(x));
  all.fill_(1.0);
  EXPECT_EQ(read(x), Numbers(12, 1.0));
}

TEST(GetItem, IntegerTensors) {
  Tensor x = counting({3, 4});
  EXPECT_EQ(read(x[{integers({2, 0, -1}, {3}), 1}]), (Numbers{10, 2, 10}));
  const Tensor rows = x[{integers({2, 0}, {2, 1})}];
  EXPECT_EQ(rows.shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(read(x[{integers({0, 1}, {2, 1}), integers({0, 3}, {2})}]), (Numbers{1, 4, 5, 8}));
}

TEST(GetItem, IndexDimensionsArePlacedAsInNumPy) {
  Tensor x = counting({2, 3, 4, 5});
  Tensor i = integers({0, 1, 1}, {3});
  EXPECT_EQ((x[{Slice(), i}]).shape(), (Shape{2, 3, 4, 5}));
  EXPECT_EQ((x[{Slice(), i, i}]).shape(), (Shape{2, 3, 5}));
  EXPECT_EQ((x[{i, Slice(), i}]).shape(), (Shape{3, 3, 5}));
  EXPECT_EQ((x[{Slice(), i, Slice(), i}]).shape(), (Shape{3, 2, 4}));
  EXPECT_EQ((x[{Slice(), 0, Slice(), i}]).shape(), (Shape{3, 2, 4}));  // an integer counts
  EXPECT_EQ((x[{Slice(), 0, i}]).shape(), (Shape{2, 3, 5}));
  EXPECT_EQ((x[{Slice(), i, kNone, i}]).shape(), (Shape{3, 2, 1, 5}));
  const Tensor y = x[{Slice(), i, i}];
  EXPECT_EQ(read(y[1][2]), read(x[1][1][1]));
}

TEST(GetItem, Masks) {
  Tensor x = counting({2, 3});
  EXPECT_EQ(read(x[{mask({1, 0, 1, 0, 0, 1}, {2, 3})}]), (Numbers{1, 3, 6}));
  EXPECT_EQ((x[{mask({0, 1}, {2})}]).shape(), (Shape{1, 3}));
  EXPECT_EQ(read(x[{Slice(), mask({1, 0, 1}, {3})}]), (Numbers{1, 3, 4, 6}));
  EXPECT_EQ((x[{true}]).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ((x[{false}]).shape(), (Shape{0, 2, 3}));
}

TEST(GetItem, Errors) {
  Tensor x = counting({3, 4});
  expect_error(ErrorClass::kIndex, "out of bounds", [&] { (void)x[3]; });
  expect_error(ErrorClass::kIndex, "too many", [&] { (void)x[{0, 0, 0}]; });
  expect_error(ErrorClass::kIndex, "one ellipsis", [&] { (void)x[{kEllipsis, kEllipsis}]; });
  expect_error(ErrorClass::kValue, "step", [&] { (void)x[{Slice(kNone, kNone, -1)}]; });
  expect_error(ErrorClass::kIndex, "integers or bools", [&] { (void)x[{counting({2})}]; });
  expect_error(ErrorClass::kIndex, "does not fit", [&] { (void)x[{mask({1, 0}, {2})}]; });
  expect_error(ErrorClass::kIndex, "out of bounds", [&] { (void)x[{integers({3}, {1})}]; });
}

TEST(GetItem, GradientsReachTheIndexedElements) {
  Tensor x = leaf({3});
  sum(x[{integers({0, 2, 0}, {3})}] * counting({3})).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{4, 0, 2}));
  Tensor y = leaf({2, 2});
  sum(y[{mask({0, 1, 1, 0}, {2, 2})}]).backward();
  EXPECT_EQ(read(y.grad()), (Numbers{0, 1, 1, 0}));
}

TEST(SetItem, BasicKeysCopy) {
  Tensor x = counting({2, 3});
  x[{1}] = 0.0;
  x[{Slice(), 0}] = make({7, 8});
  EXPECT_EQ(read(x), (Numbers{7, 2, 3, 8, 0, 0}));
  x[{0, Slice(1, 3)}] = make({5, 6}, {1, 1, 2});  // leading ones are dropped
  EXPECT_EQ(read(x), (Numbers{7, 5, 6, 8, 0, 0}));
  x[{kEllipsis}] = 1.0;
  EXPECT_EQ(read(x), Numbers(6, 1.0));
}

TEST(SetItem, TensorsAndMasks) {
  Tensor x = counting({2, 3});
  x[{Slice(), integers({2, 0}, {2})}] = make({10, 20});
  EXPECT_EQ(read(x), (Numbers{20, 2, 10, 20, 5, 10}));
  x[{mask({1, 0, 0, 0, 1, 0}, {2, 3})}] = 0.0;
  EXPECT_EQ(read(x), (Numbers{0, 2, 10, 20, 0, 10}));
  x[{mask({0, 1, 0, 0, 0, 1}, {2, 3})}] = make({-1, -2});
  EXPECT_EQ(read(x), (Numbers{0, -1, 10, 20, 0, -2}));
  x[{mask({0, 1}, {2})}] = 3.0;
  EXPECT_EQ(read(x), (Numbers{0, -1, 10, 3, 3, 3}));
  x[{integers({0, 1}, {2}), integers({1, 2}, {2})}] = make({100, 200});
  EXPECT_EQ(read(x), (Numbers{0, 100, 10, 3, 3, 200}));
  expect_error(ErrorClass::kValue, "", [&] { x[{integers({0, 1}, {2})}] = counting({5}); });
}

TEST(SetItem, IsRecorded) {
  Tensor w = leaf({2});
  Tensor x = make(Numbers(4, 1.0), {2, 2});
  x[{Slice(), integers({1}, {1})}] = reshape(w, {2, 1}) * 3.0;
  EXPECT_TRUE(x.requires_grad());
  sum(x * counting({2, 2})).backward();
  EXPECT_EQ(read(w.grad()), (Numbers{6, 12}));
}

TEST(SetItem, AugmentedAssignmentIsReadAddWrite) {
  Tensor x = leaf({3});
  Tensor y = x * 1.0;
  Tensor part = y[{Slice(0, 2)}];
  part += 5.0;
  y[{Slice(0, 2)}] = part;
  EXPECT_EQ(read(y), (Numbers{6, 7, 3}));
  sum(y * y).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{12, 14, 6}));
}

}  // namespace
}  // namespace lucid::testing
