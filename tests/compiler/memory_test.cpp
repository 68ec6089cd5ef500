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

}  // namespace
}  // namespace lucid
