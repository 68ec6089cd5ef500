#pragma once

#include <atomic>
#include <cstdint>

namespace lucid {

/// A lock for work that only one thread may do at a time. Unlike a mutex it may be held for long, while kernels or
/// Python code run; waiting threads release the caller's lock. In the child of a fork it is free.
class BusyFlag {
 public:
  /// Returns whether this thread acquired the flag.
  bool try_acquire();
  /// Waits for the flag. No mutex may be held.
  void acquire();
  void release();

 private:
  /// 0 if free; otherwise identifies the process that acquired it, as its fork count + 1.
  std::atomic<uint32_t> owner_ = 0;
};

/// Holds the flag until the end of the scope. With Try, only if it was free.
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
