#include "runtime/arena.h"

#include <gtest/gtest.h>

namespace lucid {
namespace {

TEST(PlaceBlocks, BlocksThatAreLiveTogetherDoNotOverlap) {
  std::vector<ArenaBlock> blocks = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}};
  EXPECT_EQ(place_blocks(blocks), 128 + 100);
  EXPECT_NE(blocks[0].offset, blocks[1].offset);
  EXPECT_NE(blocks[1].offset, blocks[2].offset);
}

TEST(PlaceBlocks, ABlockReusesTheMemoryOfOneThatEndsInItsStep) {
  std::vector<ArenaBlock> blocks = {{100, 0, 1}, {200, 1, 2}, {64, 1, 2}};
  const BlockReuse reuses[] = {{0, 1}, {0, 2}};
  EXPECT_EQ(place_blocks(blocks, reuses), 256 + 64);
  EXPECT_EQ(blocks[0].offset, blocks[1].offset);
  EXPECT_NE(blocks[2].offset, blocks[0].offset);  // already reused
}

TEST(PlaceBlocks, MemoryIsPassedOnWithinAStepInAnyOrder) {
  // The second block is live only in the step in which the first ends and the third begins.
  std::vector<ArenaBlock> blocks = {{100, 0, 1}, {100, 1, 1}, {100, 1, 2}, {100, 0, 2}};
  const BlockReuse reuses[] = {{1, 2}, {0, 1}, {2, 1}, {1, 0}};
  EXPECT_EQ(place_blocks(blocks, reuses), 128 + 100);
  EXPECT_EQ(blocks[0].offset, blocks[1].offset);
  EXPECT_EQ(blocks[1].offset, blocks[2].offset);
  EXPECT_NE(blocks[3].offset, blocks[0].offset);
}

TEST(PlaceBlocks, MutualReuseIsAppliedOnce) {
  std::vector<ArenaBlock> blocks = {{100, 1, 1}, {100, 1, 1}};
  const BlockReuse reuses[] = {{0, 1}, {1, 0}};
  EXPECT_EQ(place_blocks(blocks, reuses), 100);
}

TEST(PlaceBlocks, ALargeBlockIsPlacedInTheSmallestFreeRegion) {
  constexpr int64_t kLarge = 1 << 20;
  std::vector<ArenaBlock> blocks = {{kLarge, 0, 3}, {kLarge, 4, 5}, {kLarge, 4, 6}, {kLarge, 4, 9}, {100, 4, 5}};
  const FreeRegion regions[] = {{3 * kLarge, 4, 6}, {kLarge, 4, 5}, {kLarge / 2, 0, 9}};
  EXPECT_EQ(place_blocks(blocks, {}, regions), kLarge + 100);
  const auto region_of = [&](size_t i) { return blocks[i].region; };
  EXPECT_EQ(region_of(0), -1);  // no region is free yet
  EXPECT_EQ(region_of(1), 1);
  EXPECT_EQ(region_of(2), 0);
  EXPECT_EQ(region_of(3), -1);  // live longer than the region is free
  EXPECT_EQ(region_of(4), -1);  // too small
}

TEST(PlaceBlocks, BlocksShareARegion) {
  constexpr int64_t kLarge = 1 << 20;
  std::vector<ArenaBlock> blocks = {{kLarge, 0, 2}, {kLarge, 1, 2}, {kLarge, 2, 3}, {2 * kLarge, 4, 5}};
  const FreeRegion regions[] = {{2 * kLarge, 0, 9}};
  EXPECT_EQ(place_blocks(blocks, {}, regions), kLarge);
  EXPECT_EQ(blocks[0].region, 0);
  EXPECT_EQ(blocks[1].region, 0);
  EXPECT_NE(blocks[0].offset, blocks[1].offset);
  EXPECT_EQ(blocks[2].region, -1);  // the region is full
  EXPECT_EQ(blocks[3].region, 0);
}

}  // namespace
}  // namespace lucid
