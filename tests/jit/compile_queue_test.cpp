// The compile thread. These tests also run under the thread sanitizer.

#include "jit/compile_queue.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/cancellation.h"

namespace lucid::jit {
namespace {

/// Keeps the thread busy until `is_free` is set or the task is cancelled.
void work_until(const std::atomic<bool>& is_free) {
  while (!is_free) {
    check_cancelled();
    std::this_thread::yield();
  }
}

TEST(CompileQueue, RunsTasksOnItsThreadInOrder) {
  std::vector<int> order;
  std::thread::id where;
  std::vector<std::shared_ptr<CompileTask>> tasks;
  for (int i = 0; i < 5; ++i)
    tasks.push_back(CompileTask::start([&, i] {
      order.push_back(i);
      where = std::this_thread::get_id();
    }));
  wait_for_compile_tasks();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(CompileQueue, WaitsNoLongerThanTheTimeout) {
  std::atomic<bool> is_free = false, has_begun = false;
  const auto task = CompileTask::start([&] {
    has_begun = true;
    work_until(is_free);
  });
  while (!has_begun) std::this_thread::yield();
  EXPECT_FALSE(task->wait(std::chrono::milliseconds(5)));
  is_free = true;
  task->wait();
  EXPECT_TRUE(task->wait(std::chrono::nanoseconds(0)));
}

TEST(CompileQueue, RethrowsWhatTheWorkThrows) {
  const auto good = CompileTask::start([] {});
  const auto bad = CompileTask::start([] { throw std::runtime_error("no"); });
  good->wait();
  bad->wait();
  good->rethrow();
  EXPECT_THROW(bad->rethrow(), std::runtime_error);
}

TEST(CompileQueue, ReleasesFinishedWork) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  const auto task = CompileTask::start([held = std::move(held)] {});
  task->wait();
  wait_for_compile_tasks();
  // The work is destroyed right after waiting threads are notified.
  while (!seen.expired()) std::this_thread::yield();
}

TEST(CompileQueue, NeverStartsCancelledTasks) {
  std::atomic<bool> is_free = false, has_run = false;
  const auto first = CompileTask::start([&] { work_until(is_free); });
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = held;
  auto second = CompileTask::start([&, held = std::move(held)] { has_run = true; });
  second->cancel();
  second.reset();
  EXPECT_TRUE(seen.expired());
  is_free = true;
  wait_for_compile_tasks();
  EXPECT_FALSE(has_run);
}

TEST(CompileQueue, StopsCancelledTasks) {
  std::atomic<bool> has_begun = false;
  const std::atomic<bool> never = false;
  const auto task = CompileTask::start([&] {
    has_begun = true;
    work_until(never);
  });
  while (!has_begun) std::this_thread::yield();
  task->cancel();
  wait_for_compile_tasks();
}

TEST(CompileQueue, AWaitingThreadDoesNotWaitForOtherTasks) {
  std::atomic<bool> is_free = false, has_begun = false;
  const auto first = CompileTask::start([&] {
    has_begun = true;
    work_until(is_free);
  });
  while (!has_begun) std::this_thread::yield();
  std::thread::id where;
  CompileTask::start([&] { where = std::this_thread::get_id(); })->wait();
  EXPECT_EQ(where, std::this_thread::get_id());
  is_free = true;
  first->wait();
}

TEST(CompileQueue, ManyThreadsMayWait) {
  std::atomic<bool> is_free = false;
  std::atomic<int> done = 0;
  const auto task = CompileTask::start([&] { work_until(is_free); });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      task->wait();
      ++done;
    });
  is_free = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 8);
}

/// The exit status of a child that runs `body`; -1 if it was killed.
template <typename Body>
int status_of_child(const Body& body) {
  fflush(nullptr);  // otherwise the child would print the parent's buffered output
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A fork does not wait for long tasks. They are restarted: in the parent by the compile thread, in the child by a
// thread that waits for them.
TEST(CompileQueueProcesses, ContinueAfterAFork) {
  std::atomic<bool> is_free = false, has_begun = false;
  std::atomic<int> runs = 0;
  const auto running = CompileTask::start([&] {
    has_begun = true;
    work_until(is_free);
    ++runs;
  });
  const auto queued = CompileTask::start([&] { ++runs; });
  while (!has_begun) std::this_thread::yield();
  const int status = status_of_child([&] {
    is_free = true;
    queued->wait();
    running->wait();
    return runs == 2;
  });
  EXPECT_EQ(status, 0);
  is_free = true;
  running->wait();
  queued->wait();
  EXPECT_EQ(runs, 2);
}

TEST(CompileQueueProcesses, ChildrenHaveTheirOwnThread) {
  CompileTask::start([] {})->wait();
  const int status = status_of_child([] {
    std::thread::id where;
    const auto task = CompileTask::start([&] { where = std::this_thread::get_id(); });
    wait_for_compile_tasks();
    return where != std::this_thread::get_id();
  });
  EXPECT_EQ(status, 0);
}

TEST(CompileQueueProcesses, WaitingThreadsRunTasksAfterTheThreadHasEnded) {
  const int status = status_of_child([] {
    std::atomic<bool> is_free = false, has_begun = false;
    std::thread::id where;
    const auto running = CompileTask::start([&] {
      has_begun = true;
      work_until(is_free);
      where = std::this_thread::get_id();
    });
    while (!has_begun) std::this_thread::yield();
    stop_compile_thread();
    is_free = true;
    const auto late = CompileTask::start([] {});
    late->wait();
    running->wait();
    return where == std::this_thread::get_id();
  });
  EXPECT_EQ(status, 0);
}

TEST(CompileQueueProcesses, ExitWhileTheThreadWorks) {
  const int status = status_of_child([] {
    static std::atomic<bool> has_begun = false;
    static const std::atomic<bool> never = false;
    CompileTask::start([] {
      has_begun = true;
      work_until(never);
    });
    while (!has_begun) std::this_thread::yield();
    std::exit(7);
    return false;
  });
  EXPECT_EQ(status, 7);
}

/// As LLVM has them: created by the first task that needs them.
struct StaticOfATask {
  std::atomic<bool> is_used = true;
  ~StaticOfATask() {
    if (is_used) _exit(1);
  }
};

TEST(CompileQueueProcesses, ExitKeepsWhatTheThreadUsesUntilItHasStopped) {
  const int status = status_of_child([] {
    static std::atomic<bool> has_begun = false;
    static const std::atomic<bool> never = false;
    CompileTask::start([] {
      static StaticOfATask object;
      has_begun = true;
      try {
        work_until(never);
      } catch (const Cancelled&) {
        object.is_used = false;
        throw;
      }
    });
    while (!has_begun) std::this_thread::yield();
    std::exit(7);
    return false;
  });
  EXPECT_EQ(status, 7);
}

}  // namespace
}  // namespace lucid::jit
