#include "runtime/thread_pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/options.h"
#include "runtime/float_mode.h"

// The child of a fork starts its own workers, which the sanitizer does not allow by default.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace lucid {
namespace {

class ThreadsScope {
 public:
  explicit ThreadsScope(int threads) : saved_(num_threads()) { set_thread_count(threads); }
  ~ThreadsScope() { set_thread_count(saved_); }

 private:
  int saved_;
};

struct Range {
  int64_t begin, end;
  auto operator<=>(const Range&) const = default;
};

std::vector<Range> ranges_of(int64_t count, int64_t grain) {
  std::mutex mutex;
  std::vector<Range> ranges;
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    ranges.push_back({begin, end});
  });
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

/// Returns whether every element is visited exactly once.
bool visits_each_once(int64_t count, int64_t grain) {
  std::vector<int> visits(static_cast<size_t>(count));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
  });
  return std::all_of(visits.begin(), visits.end(), [](int n) { return n == 1; });
}

class WithThreads : public testing::TestWithParam<int> {
 protected:
  ThreadsScope scope_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Counts, WithThreads, testing::Values(1, 2, 3, 7, 32));

TEST_P(WithThreads, RangesCoverEverythingOnceAndRespectTheGrain) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const int64_t count = random() % 2000, grain = 1 + random() % 300;
    const std::vector<Range> ranges = ranges_of(count, grain);
    int64_t expected_begin = 0;
    for (const Range& range : ranges) {
      ASSERT_EQ(range.begin, expected_begin);
      ASSERT_GE(range.end - range.begin, std::min(grain, count));
      expected_begin = range.end;
    }
    ASSERT_EQ(expected_begin, count);
  }
}

TEST_P(WithThreads, ManyShortRegionsInARow) {
  for (int round = 0; round < 2000; ++round) ASSERT_TRUE(visits_each_once(64, 1));
}

TEST_P(WithThreads, RegionsAfterTheWorkersFellAsleep) {
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(visits_each_once(1000, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_P(WithThreads, NestedRegionsRunOnTheCallingThread) {
  std::atomic<int64_t> total{0};
  parallel_for(20, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto outer = std::this_thread::get_id();
      parallel_for(100, 1, [&](int64_t inner_begin, int64_t inner_end) {
        if (GetParam() > 1) {
          EXPECT_EQ(std::this_thread::get_id(), outer);
        }
        total += inner_end - inner_begin;
      });
    }
  });
  EXPECT_EQ(total, 2000);
}

TEST_P(WithThreads, TheExceptionOfTheLowestRangeReachesTheCaller) {
  for (int round = 0; round < 200; ++round) {
    try {
      parallel_for(100, 1, [](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          if (i % 10 == 7) throw ValueError("element {}", i);
      });
      FAIL() << "did not throw";
    } catch (const ValueError& error) {
      ASSERT_STREQ(error.what(), "element 7");
    }
    ASSERT_TRUE(visits_each_once(100, 1));
  }
}

TEST_P(WithThreads, SeveralCallersAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 100; ++round) {
        wrong += !visits_each_once(100 + caller, 1);
        try {
          parallel_for(50, 1, [&](int64_t, int64_t) { throw std::runtime_error(std::to_string(caller)); });
          ++wrong;
        } catch (const std::runtime_error& error) {
          wrong += error.what() != std::to_string(caller);
        }
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(WithThreads, WorkersHaveTheCallersFloatMode) {
  const unsigned saved = _mm_getcsr();
  for (uint32_t word : {0x1f80u, 0x9f80u, 0x1f80u | 0x6000u}) {
    _mm_setcsr(word);
    std::atomic<int> different{0};
    parallel_for(64, 1, [&](int64_t, int64_t) { different += current_float_mode() != word; });
    EXPECT_EQ(different, 0) << word;
  }
  _mm_setcsr(saved);
}

TEST(ThreadPool, UsesMoreThanOneThread) {
  const ThreadsScope scope(2);
  std::atomic<int> arrived{0};
  // Each of the two ranges waits for the other to begin, so this ends only if two threads run them.
  parallel_for(2, 1, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, SmallCountsRunOnTheCallersThread) {
  const ThreadsScope scope(7);
  EXPECT_EQ(ranges_of(0, 1), (std::vector<Range>{}));
  EXPECT_EQ(ranges_of(-5, 1), (std::vector<Range>{}));
  EXPECT_EQ(ranges_of(10, 10), (std::vector<Range>{{0, 10}}));
  EXPECT_EQ(ranges_of(19, 10), (std::vector<Range>{{0, 19}}));
  EXPECT_EQ(ranges_of(3, 0).size(), 3u);
}

TEST(ThreadPool, HugeCountsDoNotOverflow) {
  const ThreadsScope scope(7);
  const int64_t count = std::numeric_limits<int64_t>::max();
  const std::vector<Range> ranges = ranges_of(count, 1);
  EXPECT_EQ(ranges.front().begin, 0);
  EXPECT_EQ(ranges.back().end, count);
  for (size_t i = 1; i < ranges.size(); ++i) EXPECT_EQ(ranges[i].begin, ranges[i - 1].end);
}

TEST(ThreadPool, TheNumberOfThreadsCanChangeBetweenRegions) {
  const ThreadsScope scope(1);
  for (int threads : {1, 5, 2, 9, 1, 3}) {
    set_thread_count(threads);
    EXPECT_EQ(num_threads(), threads);
    EXPECT_TRUE(visits_each_once(500, 1));
  }
}

TEST(ThreadPool, RejectsImpossibleNumbersOfThreads) {
  EXPECT_THROW(set_thread_count(0), ValueError);
  EXPECT_THROW(set_thread_count(-1), ValueError);
  EXPECT_THROW(set_thread_count(kMaxThreads + 1), ValueError);
}

TEST(ThreadPool, WorkersLeaveSignalsToTheProgram) {
  const ThreadsScope scope(3);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> unmasked{0};
  parallel_for(300, 1, [&](int64_t, int64_t) {
    if (std::this_thread::get_id() == caller) return;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    unmasked += !sigismember(&mask, SIGINT);
  });
  EXPECT_EQ(unmasked, 0);
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_FALSE(sigismember(&mask, SIGINT));
}

/// The exit status of a child that runs `body`; -1 if it was killed.
template <typename Body>
int status_of_child(Body body) {
  fflush(nullptr);  // otherwise the child would print the parent's buffered output
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ThreadPool, WorksInTheChildOfAFork) {
  const ThreadsScope scope(4);
  ASSERT_TRUE(visits_each_once(1000, 1));
  EXPECT_EQ(status_of_child([] { return visits_each_once(1000, 1); }), 0);
  EXPECT_EQ(status_of_child([] { return status_of_child([] { return visits_each_once(1000, 1); }) == 0; }), 0);
  EXPECT_TRUE(visits_each_once(1000, 1));
}

TEST(ThreadPool, WorksInAChildForkedWhileAnotherThreadUsesThePool) {
  const ThreadsScope scope(3);
  std::atomic<bool> stop{false};
  std::thread user([&] {
    while (!stop) visits_each_once(1000, 1);
  });
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(status_of_child([] {
                for (int i = 0; i < 20; ++i)
                  if (!visits_each_once(100, 1)) return false;
                return true;
              }),
              0);
  }
  stop = true;
  user.join();
}

TEST(ThreadPool, TheProcessExitsWhileWorkersAreIdle) {
  const ThreadsScope scope(7);
  for (int milliseconds : {0, 5}) {
    EXPECT_EQ(status_of_child([&] {
                visits_each_once(1000, 1);
                std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
                exit(0);
                return false;
              }),
              0);
  }
}

}  // namespace
}  // namespace lucid
