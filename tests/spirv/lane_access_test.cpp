#include "spirv/lane_access.h"

#include <gtest/gtest.h>

#include "loop/builder.h"

namespace lucid::spirv {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::kLanes;
using loop::Value;

/// Whether accesses of any buffer by different lanes need barriers.
bool needs_order(const loop::Kernel& kernel) {
  for (const LaneAccess& access : lane_accesses(kernel)) {
    if (access.group != 0) return true;
  }
  return false;
}

class LaneAccessTest : public testing::Test {
 protected:
  Builder b{"kernel"};
  BufferRef in = b.argument(Dtype::kF32);
  BufferRef out = b.argument(Dtype::kF32);
  Value size = b.param();
  Value zero = b.splat(b.constant(Dtype::kF32, 0.0));
};

TEST_F(LaneAccessTest, LanesOwnTheElementsThatTheyUpdate) {
  b.for_loop(b.begin() * b.index(kLanes), size, 4 * kLanes, [&](Value i) {
    for (int k = 0; k < 4; ++k) {
      const Value at = i + b.index(k * kLanes);
      b.store(out, at, b.load_vector(out, at) + b.load_vector(in, at));
    }
  });
  EXPECT_FALSE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, LanesOwnElementsOfRowsOfAnyLength) {
  b.for_loop(b.begin(), b.end(), 1, [&](Value row) {
    b.for_loop(b.index(0), size, kLanes, [&](Value i) { b.store(out, row * size + i, zero); });
    b.for_loop(b.index(0), size, kLanes,
               [&](Value i) { b.store(out, row * size + i, b.load_vector(out, i + row * size)); });
  });
  EXPECT_FALSE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, ReadingShiftedElementsNeedsOrder) {
  b.for_loop(b.index(0), size, kLanes, [&](Value i) { b.store(out, i, b.load_vector(out, i + b.index(1))); });
  EXPECT_TRUE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, StoringToMovingElementsNeedsOrder) {
  b.for_loop(b.index(0), size, 1, [&](Value i) { b.store(out, i, zero); });
  EXPECT_TRUE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, ItemsAreIndependent) {
  b.for_loop(b.begin(), b.end(), 1, [&](Value item) { b.store(out, item * size, zero); });
  EXPECT_FALSE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, ItemsShareScratch) {
  const BufferRef scratch = b.scratch(Dtype::kF32, 64);
  b.for_loop(b.begin(), b.end(), 1, [&](Value item) { b.store(scratch, item, zero); });
  EXPECT_TRUE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, LaneZeroStoresScalars) {
  b.for_loop(b.index(0), size, 1, [&](Value i) { b.store(out, i, b.constant(Dtype::kF32, 0.0)); });
  EXPECT_FALSE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, LoadingStoredScalarsNeedsOrder) {
  b.store(out, b.index(0), b.constant(Dtype::kF32, 0.0));
  b.store(out, b.index(1), b.load(out, b.index(0)));
  EXPECT_TRUE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, MixedStoresNeedOrder) {
  b.store(out, b.index(0), zero);
  b.store(out, b.index(0), b.constant(Dtype::kF32, 1.0));
  EXPECT_TRUE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, OneScatterPerItemNeedsNoOrder) {
  b.for_loop(b.begin(), b.end(), kLanes, [&](Value i) { b.scatter(out, b.splat(i) + b.iota(), zero); });
  EXPECT_FALSE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, RepeatedScattersNeedOrder) {
  b.for_loop(b.begin(), b.end(), 1, [&](Value) {
    b.for_loop(b.index(0), size, 1, [&](Value i) { b.scatter(out, b.splat(i) + b.iota(), zero); });
  });
  EXPECT_TRUE(needs_order(b.finish()));
}

// A result may have the memory of an operand: lane 0 must not store before the others have loaded.
TEST_F(LaneAccessTest, AScalarResultMayOverwriteItsOperand) {
  b.store(out, b.begin(), b.load(in, b.begin()));
  EXPECT_TRUE(needs_order(b.finish()));
}

TEST_F(LaneAccessTest, AccessesWithOnePatternNeedNoOrderBetweenThem) {
  b.store(out, b.index(0), zero);
  b.store(out, b.index(32), zero);
  b.store(out, b.index(33), zero);
  const loop::Kernel kernel = b.finish();
  std::vector<LaneAccess> stores;
  for (const LaneAccess& access : lane_accesses(kernel)) {
    if (access.group != 0) stores.push_back(access);
  }
  ASSERT_EQ(stores.size(), 3u);
  EXPECT_EQ(stores[0].pattern, stores[1].pattern);
  EXPECT_NE(stores[0].pattern, stores[2].pattern);
  EXPECT_NE(stores[0].pattern, 0u);
}

}  // namespace
}  // namespace lucid::spirv
