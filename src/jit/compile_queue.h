#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>

namespace lucid::jit {

/// Work for the compile thread, of which a process has at most one. The work may hold no tensor and nothing else whose
/// end might need a lock of the caller's (Python's). It may be started more than once, but not after it has come to an
/// end: what it leaves behind it leaves at its end.
class CompileTask {
 public:
  /// Hands it to the thread, which starts if need be.
  static std::shared_ptr<CompileTask> start(std::function<void()> work);

  /// Whether it is done at last, for which `most` is waited. Where there is no compile thread (in the child of a fork,
  /// and when the process ends), or it does not come to it, the work is done here, however long it takes. No lock may
  /// be held that others wait for.
  bool wait(std::chrono::nanoseconds most);
  void wait();
  /// Once it is done: throws what the work threw.
  void rethrow() const;
  /// Nobody needs it any more.
  void cancel();

 private:
  friend class CompileQueue;
  enum class State : uint8_t { kQueued, kRunning, kDone };

  State state_ = State::kQueued;
  bool is_wanted_ = true;
  /// Tells the work to stop: it is not wanted, or not now.
  std::atomic<bool> stop_ = false;
  std::function<void()> work_;
  std::exception_ptr error_;
};

/// Waits until nothing is left to do.
void wait_for_compile_tasks();
/// Ends the thread, after at most a few milliseconds. What is not done by then is done by those who wait for it. To be
/// called before anything is torn down that compiling uses; the end of the process does it in any event.
void stop_compile_thread();

}  // namespace lucid::jit
