#include "jit/piece_score.h"

#include <gtest/gtest.h>

namespace lucid::testing {
namespace {

using jit::PieceScore;

struct Count {
  int in_pieces = 0;
  int timed = 0;
};

/// Makes calls that take these times, in pieces and as they are.
Count call(PieceScore& score, int calls, int64_t pieces, int64_t eager, bool is_planned = true) {
  Count count;
  for (int i = 0; i < calls; ++i) {
    const PieceScore::Mode mode = score.next();
    count.in_pieces += mode.in_pieces;
    count.timed += mode.is_timed;
    if (mode.in_pieces) score.ran_in_pieces(is_planned);
    if (mode.is_timed) score.took(mode, mode.in_pieces ? pieces : eager);
  }
  return count;
}

TEST(PieceScore, KeepsWhatIsFaster) {
  PieceScore fast, slow;
  const Count of_fast = call(fast, 1000, 80, 100), of_slow = call(slow, 1000, 120, 100);
  EXPECT_GT(of_fast.in_pieces, 950);
  EXPECT_LT(of_slow.in_pieces, 60);
}

TEST(PieceScore, MakesNoTrialBeforeThePiecesHavePlans) {
  PieceScore score;
  EXPECT_EQ(call(score, 60, 120, 100, false).timed, 0);
  EXPECT_GT(call(score, 30, 120, 100, true).timed, 10);
}

TEST(PieceScore, GivesUpPiecesThatNeverHavePlans) {
  PieceScore score;
  EXPECT_LT(call(score, 1000, 120, 100, false).in_pieces, 120);
}

TEST(PieceScore, TrialsBecomeRare) {
  PieceScore score;
  call(score, 10'000, 80, 100);
  EXPECT_LT(call(score, 10'000, 80, 100).timed, 40);
}

TEST(PieceScore, LearnsThatCallsHaveChanged) {
  PieceScore score;
  call(score, 100, 120, 100);
  EXPECT_GT(call(score, 1000, 60, 100).in_pieces, 500);
}

}  // namespace
}  // namespace lucid::testing
