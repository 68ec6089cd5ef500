#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>

namespace lucid::jit {

/// Work for the compile thread, of which a process has at most one. The work must not hold a tensor or anything else
/// whose destructor might need a lock of the caller (Python's). It may be started several times, because it can be
/// stopped, but only until it has run to its end: it must have no effects before that.
class CompileTask {
 public:
  /// Queues the work. Starts the compile thread if it is not running.
  static std::shared_ptr<CompileTask> start(std::function<void()> work);

  /// Waits up to `timeout`; returns whether the work is done. If there is no compile thread (in the child of a fork, or
  /// while the process exits), or the thread does not start the work in time, the work runs on the calling thread,
  /// however long it takes. The caller must not hold a lock that others wait for.
  bool wait(std::chrono::nanoseconds timeout);
  void wait();
  /// Whether the work is done, without waiting. Starts the compile thread if it is not running, as in the child of a
  /// fork.
  bool is_done();
  /// Throws what the work threw. The work must be done.
  void rethrow() const;
  /// The result is no longer needed.
  void cancel();

 private:
  friend class CompileQueue;
  enum class State : uint8_t { kQueued, kRunning, kDone };

  State state_ = State::kQueued;
  bool is_wanted_ = true;
  /// Tells the work to stop: it was cancelled, or must be restarted later.
  std::atomic<bool> stop_ = false;
  /// Whether a caller has waited for it.
  std::atomic<bool> is_awaited_ = false;
  std::function<void()> work_;
  std::exception_ptr error_;
};

/// Waits until all tasks are done.
void wait_for_compile_tasks();
/// Ends the compile thread within a few milliseconds. Threads that wait for unfinished tasks then run them. Call this
/// before tearing down anything that compiling uses; the exit of the process calls it in any case.
void stop_compile_thread();

}  // namespace lucid::jit
