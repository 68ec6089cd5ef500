#include "jit/compile_queue.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <list>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "base/background.h"
#include "base/cancellation.h"
#include "base/lock.h"
#include "base/memory_reserve.h"
#include "base/stack.h"
#include "runtime/kernel_cache.h"

namespace lucid::jit {

using Task = std::shared_ptr<CompileTask>;
using Clock = std::chrono::steady_clock;

/// A caller that has waited this long for a task that the compile thread has not started, because the thread is busy or
/// gets no CPU, runs the task itself.
constexpr std::chrono::milliseconds kPatience(1);

/// The queued tasks, in order, and the running ones. Only adding a task allocates: its list node is then spliced from
/// list to list.
class CompileQueue {
 public:
  static CompileQueue& get();

  void add(const Task& task) {
    std::list<Task> added{task};
    const std::lock_guard lock(mutex());
    tasks_.splice(tasks_.end(), added);
    start_thread_if_needed();
    changed_.notify_all();
  }

  bool wait(CompileTask& task, Clock::time_point end) {
    const Clock::time_point takeover = Clock::now() + kPatience;
    std::unique_lock lock(mutex());
    task.is_awaited_ = true;
    while (task.state_ != CompileTask::State::kDone) {
      const bool is_queued = task.state_ == CompileTask::State::kQueued && !is_paused_;
      if (is_queued && (!thread_.joinable() || Clock::now() >= takeover)) {
        perform(task, lock);
        continue;
      }
      const Clock::time_point until = is_queued ? std::min(end, takeover) : end;
      if (until == Clock::time_point::max())
        changed_.wait(lock);
      else
        changed_.wait_until(lock, until);
      if (Clock::now() >= end) break;
    }
    return task.state_ == CompileTask::State::kDone;
  }

  bool is_done(const CompileTask& task) {
    const std::lock_guard lock(mutex());
    if (task.state_ == CompileTask::State::kDone) return true;
    start_thread_if_needed();
    return false;
  }

  void wait_for_all() {
    std::unique_lock lock(mutex());
    while (!tasks_.empty() || !running_.empty()) {
      if (!tasks_.empty() && !thread_.joinable() && !is_paused_)
        perform(*tasks_.front(), lock);
      else
        changed_.wait(lock);
    }
  }

  void cancel(CompileTask& task) {
    // Destroyed after the lock is released.
    std::list<Task> dropped;
    const std::lock_guard lock(mutex());
    task.is_wanted_ = false;
    task.stop_ = true;
    if (task.state_ != CompileTask::State::kQueued) return;
    dropped.splice(dropped.end(), tasks_, find_task(task, tasks_));
    task.state_ = CompileTask::State::kDone;
    changed_.notify_all();
  }

  void stop() {
    std::thread thread;
    {
      const std::lock_guard lock(mutex());
      is_closed_ = true;
      thread.swap(thread_);
      // Threads that wait for these tasks run them again.
      for (const Task& task : running_) task->stop_ = true;
      changed_.notify_all();
    }
    if (thread.joinable()) thread.join();
  }

  // A fork copies the locks that a compile holds at that moment, including LLVM's, so no task may be running. Running
  // tasks are stopped and restarted after the fork; the kernels compiled so far are in the cache.
  void before_fork() {
    std::unique_lock lock(mutex());
    is_paused_ = true;
    for (const Task& task : running_) task->stop_ = true;
    changed_.wait(lock, [&] { return running_.empty(); });
  }
  void after_fork_in_parent() {
    const std::lock_guard lock(mutex());
    is_paused_ = false;
    changed_.notify_all();
  }
  /// The child has no compile thread and no waiting threads. The condition variable and the thread object are copies in
  /// an arbitrary state of the parent; they are replaced without being destroyed.
  void after_fork_in_child() {
    std::list<Task> tasks = std::move(tasks_);
    const bool is_closed = is_closed_;
    new (this) CompileQueue;
    tasks_ = std::move(tasks);
    is_closed_ = is_closed;
  }

 private:
  void start_thread_if_needed() {
    if (!is_closed_ && !thread_.joinable()) start_thread();
  }

  void start_thread() {
    prepare_to_throw();
    // Signals are delivered to the program's own threads: the new thread inherits a mask that blocks them all.
    sigset_t all, saved;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    try {
      thread_ = std::thread([this] { work(); });
      pthread_setname_np(thread_.native_handle(), "lucid-compile");
    } catch (const std::system_error&) {
      // The system has no more threads: a thread that waits runs the task.
    } catch (const std::bad_alloc&) {
      // As above.
    }
    pthread_sigmask(SIG_SETMASK, &saved, nullptr);
  }

  void work() {
    prepare_to_throw();
    // Waking up must not preempt the call that continues.
    const sched_param priority{};
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &priority);
    std::unique_lock lock(mutex());
    for (;;) {
      changed_.wait(lock, [&] { return is_closed_ || (!is_paused_ && !tasks_.empty()); });
      if (is_closed_) return;
      perform(*tasks_.front(), lock);
    }
  }

  using Position = std::list<Task>::iterator;
  static Position find_task(const CompileTask& task, std::list<Task>& tasks) {
    return std::find_if(tasks.begin(), tasks.end(), [&](const Task& other) { return other.get() == &task; });
  }

  /// Runs `queued`, which must be in `tasks_`.
  void perform(CompileTask& queued, std::unique_lock<Mutex>& lock) {
    const Position position = find_task(queued, tasks_);
    const Task task = *position;
    task->state_ = CompileTask::State::kRunning;
    running_.splice(running_.end(), tasks_, position);
    lock.unlock();
    bool is_stopped = false;
    std::exception_ptr error;
    try {
      const CancellationScope scope(task->stop_);
      const BackgroundScope background(task->is_awaited_);
      // A waiting thread may run this on a small stack.
      with_large_stack(task->work_);
    } catch (const Cancelled&) {
      is_stopped = true;
    } catch (...) {
      error = std::current_exception();
    }
    std::list<Task> done;
    std::function<void()> finished;
    lock.lock();
    if (is_stopped && task->is_wanted_) {
      task->stop_ = false;
      task->state_ = CompileTask::State::kQueued;
      tasks_.splice(tasks_.begin(), running_, position);
    } else {
      done.splice(done.end(), running_, position);
      task->state_ = CompileTask::State::kDone;
      task->error_ = error;
      finished.swap(task->work_);
    }
    changed_.notify_all();
    if (!finished) return;
    lock.unlock();
    finished = nullptr;
    lock.lock();
  }

  static Mutex& mutex() { return mutex_of(LockRank::kCompileQueue); }

  std::condition_variable_any changed_;
  std::list<Task> tasks_;
  std::list<Task> running_;
  std::thread thread_;
  bool is_paused_ = false;
  bool is_closed_ = false;
};

namespace {
std::atomic<bool> has_queue = false;
}

CompileQueue& CompileQueue::get() {
  // Never destroyed: other threads may still wait while the process exits.
  static CompileQueue* const queue = [] {
    // Fork handlers for the parent and child run in the order of registration: the kernel cache must be usable before a
    // task runs.
    kernel_cache();
    auto* const made = new CompileQueue;
    pthread_atfork([] { get().before_fork(); }, [] { get().after_fork_in_parent(); },
                   [] { get().after_fork_in_child(); });
    // Objects created before this registration are destroyed after the handler has run.
    std::atexit(stop_compile_thread);
    has_queue = true;
    return made;
  }();
  return *queue;
}

std::shared_ptr<CompileTask> CompileTask::start(std::function<void()> work) {
  auto task = std::make_shared<CompileTask>();
  task->work_ = std::move(work);
  CompileQueue::get().add(task);
  return task;
}

bool CompileTask::wait(std::chrono::nanoseconds timeout) {
  return CompileQueue::get().wait(*this, Clock::now() + timeout);
}

bool CompileTask::is_done() { return CompileQueue::get().is_done(*this); }

void CompileTask::wait() { CompileQueue::get().wait(*this, Clock::time_point::max()); }

void CompileTask::rethrow() const {
  if (!error_) return;
  prepare_to_throw();
  std::rethrow_exception(error_);
}

void CompileTask::cancel() { CompileQueue::get().cancel(*this); }

void wait_for_compile_tasks() { CompileQueue::get().wait_for_all(); }

void stop_compile_thread() { CompileQueue::get().stop(); }

namespace {

/// Stops the compile thread when the main thread returns from main or calls exit. LLVM creates static objects while it
/// compiles, and exit destroys those before it calls handlers that were registered earlier; but it destroys the calling
/// thread's own objects before all of these.
struct StopAtExit {
  ~StopAtExit() {
    if (has_queue) stop_compile_thread();
  }
};

void stop_at_exit_of_main_thread() noexcept {
  if (gettid() == getpid()) thread_local const StopAtExit stop;
}

// The main thread loads the library in almost every program. Otherwise the exit handler of the queue stops the thread.
[[maybe_unused]] const bool is_registered = (stop_at_exit_of_main_thread(), true);

}  // namespace

}  // namespace lucid::jit
