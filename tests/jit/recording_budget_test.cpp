#include "jit/recording_budget.h"

#include <gtest/gtest.h>

namespace lucid::jit {
namespace {

constexpr int64_t kMicrosecond = 1000;

/// What became of calls that plans do not serve, each of which costs `recording` to record and `eager` to run.
struct Calls {
  int64_t recorded = 0;
  int64_t spent = 0;
  int64_t eager = 0;
};

Calls run(RecordingBudget& budget, int64_t calls, int64_t eager, int64_t recording, int64_t hits = 0,
          bool evicts = false) {
  Calls result;
  for (int64_t i = 0; i < calls; ++i) {
    if (budget.take(hits, evicts)) {
      ++result.recorded;
      result.spent += recording;
      budget.recorded(eager + recording);
    } else {
      budget.ran_eagerly(eager);
    }
    result.eager += eager;
  }
  return result;
}

TEST(RecordingBudget, FunctionsWithoutHitsSpendAFewPercent) {
  for (const int64_t eager : {20 * kMicrosecond, 200 * kMicrosecond, 5000 * kMicrosecond}) {
    RecordingBudget budget(8, /*is_timed=*/true);
    const Calls first = run(budget, 20, eager, 5000 * kMicrosecond);
    EXPECT_EQ(first.recorded, 4) << eager;
    const Calls later = run(budget, 100'000, eager, 5000 * kMicrosecond);
    EXPECT_LE(static_cast<double>(later.spent), 0.04 * static_cast<double>(later.eager)) << eager;
    EXPECT_GE(later.recorded, 1) << eager;
  }
}

TEST(RecordingBudget, HitsPayForRecordings) {
  RecordingBudget budget(8, /*is_timed=*/true);
  EXPECT_EQ(run(budget, 100, 100 * kMicrosecond, 5000 * kMicrosecond, /*hits=*/1).recorded, 12);
  EXPECT_EQ(run(budget, 100, 100 * kMicrosecond, 5000 * kMicrosecond, /*hits=*/500).recorded, 0);
  // A quarter of the time of 10,000 eager calls pays for fifty recordings, of which 12 were free.
  EXPECT_NEAR(static_cast<double>(run(budget, 200, 100 * kMicrosecond, 5000 * kMicrosecond, 10'000).recorded), 39, 2);
}

TEST(RecordingBudget, LongRecordingsAreNotFree) {
  RecordingBudget budget(8, /*is_timed=*/true);
  EXPECT_EQ(run(budget, 20, 2000 * kMicrosecond, 60'000 * kMicrosecond, /*hits=*/1).recorded, 4);
}

TEST(RecordingBudget, PlansThatEvictOthersEarnLess) {
  RecordingBudget budget(8, /*is_timed=*/true);
  constexpr int64_t kHits = 2000;
  EXPECT_EQ(run(budget, 100, 100 * kMicrosecond, 5000 * kMicrosecond, kHits, /*evicts=*/true).recorded, 12);
  EXPECT_EQ(run(budget, 100, 100 * kMicrosecond, 5000 * kMicrosecond, kHits + 100, /*evicts=*/true).recorded, 0);
}

TEST(RecordingBudget, ItDoesNotDependOnTheClockIfCallsWait) {
  RecordingBudget one(8, /*is_timed=*/false), other(8, /*is_timed=*/false);
  const Calls slow = run(one, 1000, 1000 * kMicrosecond, 10 * kMicrosecond, 40);
  const Calls fast = run(other, 1000, kMicrosecond, 10'000 * kMicrosecond, 40);
  EXPECT_EQ(slow.recorded, fast.recorded);
  // Those that are free, and samples.
  EXPECT_GT(slow.recorded, 16);
  EXPECT_LT(slow.recorded, 40);
}

}  // namespace
}  // namespace lucid::jit
