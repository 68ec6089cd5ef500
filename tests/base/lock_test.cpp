#include "base/lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <thread>
#include <vector>

#include "base/atomic_ref.h"
#include "base/blocking.h"
#include "base/busy_flag.h"

namespace lucid {
namespace {

void run_in_threads(int count, const std::function<void()>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

/// Forks and returns the exit status of the child. A child that hangs is killed by a signal.
int status_of_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    work();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Mutex, IsMutuallyExclusive) {
  int64_t count = 0;
  run_in_threads(4, [&] {
    for (int i = 0; i < 20000; ++i) {
      const std::lock_guard lock(mutex_of(LockRank::kGenerator));
      ++count;
    }
  });
  EXPECT_EQ(count, 80000);
}

TEST(Mutex, IsFreeInTheChildOfAFork) {
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) {
      const std::lock_guard lock(mutex_of(LockRank::kCell));
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(status_of_child([] { const std::lock_guard lock(mutex_of(LockRank::kCell)); }), 0);
  }
  stop = true;
  other.join();
}

#if LUCID_CHECKS_LOCKS
TEST(MutexDeathTest, LocksMustBeAcquiredInOrder) {
  // Inside the statement, because a death test forks, and a fork waits for locks.
  EXPECT_DEATH(
      {
        const std::lock_guard later(mutex_of(LockRank::kAllocator));
        const std::lock_guard earlier(mutex_of(LockRank::kCell));
      },
      "an earlier rank");
}

TEST(MutexDeathTest, NoLockMayBeHeldWhileBlocking) {
  EXPECT_DEATH(
      {
        const std::lock_guard lock(mutex_of(LockRank::kCell));
        const BlockingScope blocking;
      },
      "the caller's lock is released");
}

TEST(BorrowScopeDeathTest, TheLockIsKept) {
  EXPECT_DEATH(
      {
        const BorrowScope borrowed;
        const BlockingScope blocking;
      },
      "the caller's lock is released in a BorrowScope");
}

TEST(BorrowScope, EndsEarly) {
  BorrowScope borrowed;
  borrowed.end();
  const BlockingScope blocking;
}
#endif

struct CountedRef : RefCounted {
  explicit CountedRef(int64_t value) : first(value), last(value) { ++alive; }
  ~CountedRef() override {
    first = last = -1;
    --alive;
  }
  static inline std::atomic<int> alive = 0;
  int64_t first, last;
};

TEST(AtomicRef, LoadedObjectsStayAlive) {
  {
    AtomicRef<CountedRef> shared(make_ref<CountedRef>(0));
    std::atomic<int> wrong = 0;
    std::atomic<int64_t> next = 0;
    run_in_threads(4, [&] {
      for (int i = 0; i < 20000; ++i) {
        const Ref<CountedRef> found = shared.load();
        if (found->first < 0 || found->first != found->last) ++wrong;
        if (i % 3 == 0) shared.store(make_ref<CountedRef>(++next));
      }
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(CountedRef::alive, 1);
  }
  EXPECT_EQ(CountedRef::alive, 0);
}

TEST(BusyFlag, IsHeldByOneThread) {
  BusyFlag flag;
  int64_t count = 0;
  run_in_threads(4, [&] {
    for (int i = 0; i < 5000; ++i) {
      const BusyScope scope(flag);
      ++count;
    }
  });
  EXPECT_EQ(count, 20000);
  const BusyScope scope(flag);
  EXPECT_FALSE(BusyScope(flag, BusyScope::Try()).owns_flag());
  // The flag is free in the child, where the thread that set it does not exist.
  EXPECT_EQ(status_of_child([&] {
              if (!flag.try_acquire()) _exit(1);
            }),
            0);
}

}  // namespace
}  // namespace lucid
