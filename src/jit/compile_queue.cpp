#include "jit/compile_queue.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <list>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "base/cancellation.h"
#include "base/lock.h"
#include "base/memory_reserve.h"
#include "base/stack.h"
#include "runtime/kernel_cache.h"

namespace lucid::jit {

using Task = std::shared_ptr<CompileTask>;
using Clock = std::chrono::steady_clock;

/// Who has waited so long for work that the thread has not begun, because it is busy or gets no CPU, does it himself.
constexpr std::chrono::milliseconds kPatience(1);

/// The tasks that wait for the thread, in order, and those that run. Memory is needed only to add one: a task keeps its
/// place in a list of one from then on, which moves from list to list.
class CompileQueue {
 public:
  static CompileQueue& get();

  void add(const Task& task) {
    std::list<Task> added{task};
    const std::lock_guard lock(mutex());
    tasks_.splice(tasks_.end(), added);
    if (!is_closed_ && !thread_.joinable()) start_thread();
    changed_.notify_all();
  }

  bool wait(CompileTask& task, Clock::time_point end) {
    const Clock::time_point own_turn = Clock::now() + kPatience;
    std::unique_lock lock(mutex());
    while (task.state_ != CompileTask::State::kDone) {
      const bool is_queued = task.state_ == CompileTask::State::kQueued && !is_paused_;
      if (is_queued && (!thread_.joinable() || Clock::now() >= own_turn)) {
        perform(task, lock);
        continue;
      }
      const Clock::time_point until = is_queued ? std::min(end, own_turn) : end;
      if (until == Clock::time_point::max())
        changed_.wait(lock);
      else
        changed_.wait_until(lock, until);
      if (Clock::now() >= end) break;
    }
    return task.state_ == CompileTask::State::kDone;
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
    // Destroyed after the lock is given back.
    std::list<Task> dropped;
    const std::lock_guard lock(mutex());
    task.is_wanted_ = false;
    task.stop_ = true;
    if (task.state_ != CompileTask::State::kQueued) return;
    dropped.splice(dropped.end(), tasks_, place_of(task, tasks_));
    task.state_ = CompileTask::State::kDone;
    changed_.notify_all();
  }

  void stop() {
    std::thread thread;
    {
      const std::lock_guard lock(mutex());
      is_closed_ = true;
      thread.swap(thread_);
      // Where others wait, they do it themselves.
      for (const Task& task : running_) task->stop_ = true;
      changed_.notify_all();
    }
    if (thread.joinable()) thread.join();
  }

  // A fork copies whatever locks a compile holds at that moment, some of them LLVM's: so nothing may run. What does is
  // begun again afterwards; its kernels so far are in the cache.
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
  /// The child has no thread, and nobody who waits. The condition variable and the thread were copied in some state of
  /// the parent's and are not destroyed, but replaced.
  void after_fork_in_child() {
    std::list<Task> tasks = std::move(tasks_);
    const bool is_closed = is_closed_;
    new (this) CompileQueue;
    tasks_ = std::move(tasks);
    is_closed_ = is_closed;
  }

 private:
  void start_thread() {
    prepare_to_throw();
    // Signals are for the threads of the program; this one inherits the mask.
    sigset_t all, saved;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    try {
      thread_ = std::thread([this] { work(); });
      pthread_setname_np(thread_.native_handle(), "lucid-compile");
    } catch (const std::system_error&) {
      // The system has no more threads to give: whoever waits does the work.
    } catch (const std::bad_alloc&) {
      // The same.
    }
    pthread_sigmask(SIG_SETMASK, &saved, nullptr);
  }

  void work() {
    prepare_to_throw();
    // Waking up must not take the CPU from the call that goes on.
    const sched_param priority{};
    pthread_setschedparam(pthread_self(), SCHED_BATCH, &priority);
    std::unique_lock lock(mutex());
    for (;;) {
      changed_.wait(lock, [&] { return is_closed_ || (!is_paused_ && !tasks_.empty()); });
      if (is_closed_) return;
      perform(*tasks_.front(), lock);
    }
  }

  using Place = std::list<Task>::iterator;
  static Place place_of(const CompileTask& task, std::list<Task>& tasks) {
    return std::find_if(tasks.begin(), tasks.end(), [&](const Task& other) { return other.get() == &task; });
  }

  /// `queued` is among the tasks that wait.
  void perform(CompileTask& queued, std::unique_lock<Mutex>& lock) {
    const Place place = place_of(queued, tasks_);
    const Task task = *place;
    task->state_ = CompileTask::State::kRunning;
    running_.splice(running_.end(), tasks_, place);
    lock.unlock();
    bool is_stopped = false;
    std::exception_ptr error;
    try {
      const CancellationScope scope(task->stop_);
      // Whoever waits may do it, on a small stack.
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
      tasks_.splice(tasks_.begin(), running_, place);
    } else {
      done.splice(done.end(), running_, place);
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

CompileQueue& CompileQueue::get() {
  // Never destroyed: other threads may still wait while the process exits.
  static CompileQueue* const queue = [] {
    // After a fork, handlers run in the order of being registered: the cache must be in order before a task runs.
    kernel_cache();
    auto* const made = new CompileQueue;
    pthread_atfork([] { get().before_fork(); }, [] { get().after_fork_in_parent(); },
                   [] { get().after_fork_in_child(); });
    // What was made before this is torn down after it.
    std::atexit(stop_compile_thread);
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

bool CompileTask::wait(std::chrono::nanoseconds most) { return CompileQueue::get().wait(*this, Clock::now() + most); }

void CompileTask::wait() { CompileQueue::get().wait(*this, Clock::time_point::max()); }

void CompileTask::rethrow() const {
  if (!error_) return;
  prepare_to_throw();
  std::rethrow_exception(error_);
}

void CompileTask::cancel() { CompileQueue::get().cancel(*this); }

void wait_for_compile_tasks() { CompileQueue::get().wait_for_all(); }

void stop_compile_thread() { CompileQueue::get().stop(); }

}  // namespace lucid::jit
