#pragma once

#include <atomic>
#include <cstdint>

namespace lucid {

/// Says that a thread is doing what only one may do at a time. Unlike a mutex it may be held for long, while kernels
/// run and while Python does; those who wait for it give up the caller's lock. In the child of a fork it is free.
class BusyFlag {
 public:
  /// Whether this thread has it now.
  bool try_acquire();
  /// Waits for it. No mutex may be held.
  void acquire();
  void release();

 private:
  /// 0 while it is free; otherwise it names the process that set it, by the forks before it.
  std::atomic<uint32_t> owner_ = 0;
};

/// Has the flag until the end of the scope, or not at all.
class BusyScope {
 public:
  struct Try {};
  explicit BusyScope(BusyFlag& flag) : flag_(&flag) { flag.acquire(); }
  BusyScope(BusyFlag& flag, Try) : flag_(flag.try_acquire() ? &flag : nullptr) {}
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;
  ~BusyScope() {
    if (flag_) flag_->release();
  }
  bool owns_flag() const { return flag_ != nullptr; }

 private:
  BusyFlag* flag_;
};

}  // namespace lucid
