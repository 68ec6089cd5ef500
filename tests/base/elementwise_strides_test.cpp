#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "base/shape.h"

namespace lucid {
namespace {

using Random = std::mt19937_64;

int64_t pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

Dims strides_of(const Dims& shape, const std::vector<Geometry>& operands) {
  std::vector<const Geometry*> pointers;
  for (const Geometry& operand : operands) pointers.push_back(&operand);
  return elementwise_strides(shape, pointers);
}

/// Dense strides with the dimensions laid out in `outer_to_inner` order.
Dims dense_strides(const Dims& sizes, const std::vector<size_t>& outer_to_inner) {
  Dims strides(sizes.size());
  int64_t next = 1;
  for (auto dim = outer_to_inner.rbegin(); dim != outer_to_inner.rend(); ++dim) {
    strides[*dim] = next;
    next *= sizes[*dim];
  }
  return strides;
}

std::vector<size_t> random_order(Random& random, size_t rank) {
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

Dims random_shape(Random& random, int64_t smallest) {
  Dims shape(static_cast<size_t>(pick(random, 1, 5)));
  for (SymInt& size : shape) size = pick(random, smallest, 5);
  return shape;
}

TEST(ElementwiseStrides, ContiguousOperandsHaveAContiguousResult) {
  EXPECT_EQ(strides_of({2, 3}, {{{2, 3}, {3, 1}, 0}, {{2, 3}, {3, 1}, 6}}), (Dims{3, 1}));
  EXPECT_EQ(strides_of({}, {{{}, {}, 0}}), (Dims{}));
  EXPECT_EQ(strides_of({2, 3}, {}), (Dims{3, 1}));
  // Unusual strides along dimensions of size 1 or in empty tensors are ignored, and do not appear in the result.
  EXPECT_EQ(strides_of({2, 1, 3}, {{{2, 1, 3}, {3, 77, 1}, 0}}), (Dims{3, 3, 1}));
  EXPECT_EQ(strides_of({0, 3}, {{{0, 3}, {1, 9}, 0}}), (Dims{3, 1}));
}

TEST(ElementwiseStrides, EqualDenseLayoutsArePreserved) {
  EXPECT_EQ(strides_of({2, 3}, {{{2, 3}, {1, 2}, 0}}), (Dims{1, 2}));
  EXPECT_EQ(strides_of({2, 3}, {{{2, 3}, {1, 2}, 0}, {{2, 3}, {1, 2}, 0}}), (Dims{1, 2}));
  EXPECT_EQ(strides_of({2, 1, 3}, {{{2, 1, 3}, {1, 55, 2}, 0}}), (Dims{1, 55, 2}));
}

TEST(ElementwiseStrides, ChannelsLastImagesHaveCanonicalStrides) {
  const Dims shape = {2, 3, 4, 5}, strides = {60, 1, 15, 3};
  EXPECT_EQ(strides_of(shape, {{shape, strides, 0}, {shape, strides, 0}}), strides);
  EXPECT_EQ(strides_of({2, 3, 1, 5}, {{{2, 3, 1, 5}, {15, 1, 99, 3}, 0}, {{2, 3, 1, 5}, {15, 1, 15, 3}, 0}}),
            (Dims{15, 1, 15, 3}));
}

TEST(ElementwiseStrides, TheFirstOperandDecidesWhenLayoutsDiffer) {
  const Geometry rows{{2, 3}, {3, 1}, 0}, columns{{2, 3}, {1, 2}, 0};
  EXPECT_EQ(strides_of({2, 3}, {rows, columns}), (Dims{3, 1}));
  EXPECT_EQ(strides_of({2, 3}, {columns, rows}), (Dims{1, 2}));
}

TEST(ElementwiseStrides, BroadcastOperandsDoNotAffectTheOrder) {
  const Geometry row{{3}, {1}, 0}, column{{2, 1}, {1, 1}, 0}, transposed{{2, 3}, {1, 2}, 0}, number{{}, {}, 0};
  EXPECT_EQ(strides_of({2, 3}, {row, transposed}), (Dims{1, 2}));
  EXPECT_EQ(strides_of({2, 3}, {column, transposed}), (Dims{1, 2}));
  EXPECT_EQ(strides_of({2, 3}, {number, transposed}), (Dims{1, 2}));
  EXPECT_EQ(strides_of({2, 3}, {row, column}), (Dims{3, 1}));
}

TEST(ElementwiseStrides, SlicesKeepTheirOrderAndLoseTheirGaps) {
  EXPECT_EQ(strides_of({2, 3}, {{{2, 3}, {8, 2}, 0}}), (Dims{3, 1}));
  EXPECT_EQ(strides_of({2, 3}, {{{2, 3}, {2, 8}, 0}}), (Dims{1, 2}));
}

TEST(ElementwiseStrides, EqualStridesPutTheLargerDimensionOutside) {
  // A diagonal window: both dimensions step by 1.
  EXPECT_EQ(strides_of({2, 3}, {{{2, 3}, {1, 1}, 0}}), (Dims{1, 2}));
  EXPECT_EQ(strides_of({3, 2}, {{{3, 2}, {1, 1}, 0}}), (Dims{2, 1}));
}

TEST(ElementwiseStrides, OneOperandOfDistinctStridesIsSortedByThem) {
  Random random(1);
  for (int round = 0; round < 5000; ++round) {
    const Dims shape = random_shape(random, 2);
    const auto order = random_order(random, shape.size());
    // Gaps between the dimensions, so that it is not dense.
    Dims strides(shape.size());
    int64_t next = pick(random, 2, 3);
    for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
      strides[*dim] = next;
      next *= shape[*dim] + pick(random, 0, 2);
    }
    ASSERT_EQ(strides_of(shape, {{shape, strides, 0}}), dense_strides(shape, order)) << to_string(strides);
  }
}

TEST(ElementwiseStrides, ResultIsAlwaysDense) {
  Random random(2);
  for (int round = 0; round < 20000; ++round) {
    const Dims shape = random_shape(random, 1);
    std::vector<Geometry> operands;
    for (int64_t count = pick(random, 1, 3); count > 0; --count) {
      Dims sizes(shape);
      for (int64_t lost = pick(random, 0, 2 * shape.rank()) - shape.rank(); lost > 0; --lost) sizes.erase(0);
      for (SymInt& size : sizes)
        if (pick(random, 0, 3) == 0) size = 1;
      Dims strides = dense_strides(sizes, random_order(random, sizes.size()));
      for (SymInt& stride : strides)
        if (pick(random, 0, 5) == 0) stride = pick(random, 0, 9);
      operands.push_back({sizes, strides, 0});
    }
    const Dims strides = strides_of(shape, operands);
    ASSERT_TRUE(is_dense(shape, strides)) << to_string(shape) << to_string(strides);
  }
}

}  // namespace
}  // namespace lucid
