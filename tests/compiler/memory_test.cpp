#include "compiler/memory.h"

#include <gtest/gtest.h>

namespace lucid {
namespace {

TEST(PlaceBlocks, BlocksThatAreAliveTogetherLieApart) {
  std::vector<ArenaBlock> blocks = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}};
  EXPECT_EQ(place_blocks(blocks), 128 + 100);
  EXPECT_NE(blocks[0].offset, blocks[1].offset);
  EXPECT_NE(blocks[1].offset, blocks[2].offset);
}

TEST(PlaceBlocks, ABlockTakesThePlaceOfOneThatEndsInItsStep) {
  std::vector<ArenaBlock> blocks = {{100, 0, 1}, {200, 1, 2}, {64, 1, 2}};
  const BlockReuse reuses[] = {{0, 1}, {0, 2}};
  EXPECT_EQ(place_blocks(blocks, reuses), 256 + 64);
  EXPECT_EQ(blocks[0].offset, blocks[1].offset);
  EXPECT_NE(blocks[2].offset, blocks[0].offset);  // it was taken
}

TEST(PlaceBlocks, PlacesArePassedOnWithinAStepInAnyOrder) {
  // The second begins and ends in the step in which the first ends and the third begins.
  std::vector<ArenaBlock> blocks = {{100, 0, 1}, {100, 1, 1}, {100, 1, 2}, {100, 0, 2}};
  const BlockReuse reuses[] = {{1, 2}, {0, 1}, {2, 1}, {1, 0}};
  EXPECT_EQ(place_blocks(blocks, reuses), 128 + 100);
  EXPECT_EQ(blocks[0].offset, blocks[1].offset);
  EXPECT_EQ(blocks[1].offset, blocks[2].offset);
  EXPECT_NE(blocks[3].offset, blocks[0].offset);
}

TEST(PlaceBlocks, TwoThatCouldTakeEachOthersPlaceStayTwo) {
  std::vector<ArenaBlock> blocks = {{100, 1, 1}, {100, 1, 1}};
  const BlockReuse reuses[] = {{0, 1}, {1, 0}};
  EXPECT_EQ(place_blocks(blocks, reuses), 100);
}

TEST(PlaceBlocks, ALargeBlockLiesInTheSmallestRoomThatIsFree) {
  constexpr int64_t kLarge = 1 << 20;
  std::vector<ArenaBlock> blocks = {{kLarge, 0, 3}, {kLarge, 4, 5}, {kLarge, 4, 6}, {kLarge, 4, 9}, {100, 4, 5}};
  const ArenaRoom rooms[] = {{3 * kLarge, 4, 6}, {kLarge, 4, 5}, {kLarge / 2, 0, 9}};
  EXPECT_EQ(place_blocks(blocks, {}, rooms), kLarge + 100);
  const auto room_of = [&](size_t i) { return blocks[i].room; };
  EXPECT_EQ(room_of(0), -1);  // no room is free yet
  EXPECT_EQ(room_of(1), 1);
  EXPECT_EQ(room_of(2), 0);
  EXPECT_EQ(room_of(3), -1);  // it is needed longer
  EXPECT_EQ(room_of(4), -1);  // it is small
}

TEST(PlaceBlocks, BlocksShareARoom) {
  constexpr int64_t kLarge = 1 << 20;
  std::vector<ArenaBlock> blocks = {{kLarge, 0, 2}, {kLarge, 1, 2}, {kLarge, 2, 3}, {2 * kLarge, 4, 5}};
  const ArenaRoom rooms[] = {{2 * kLarge, 0, 9}};
  EXPECT_EQ(place_blocks(blocks, {}, rooms), kLarge);
  EXPECT_EQ(blocks[0].room, 0);
  EXPECT_EQ(blocks[1].room, 0);
  EXPECT_NE(blocks[0].offset, blocks[1].offset);
  EXPECT_EQ(blocks[2].room, -1);  // both places are taken
  EXPECT_EQ(blocks[3].room, 0);
}

}  // namespace
}  // namespace lucid
