#pragma once

#include <utility>

#include "base/lock.h"

namespace lucid {

/// Hooks around work that takes milliseconds, such as code generation. A caller that holds a lock which other threads
/// wait for, such as Python's GIL, releases it during this work.
struct BlockingHooks {
  /// Called before the work; its result is passed to `end`.
  void* (*begin)() = nullptr;
  void (*end)(void* state) = nullptr;
  /// Called periodically by waiting threads; throws to stop waiting.
  void (*check_interrupts)() = nullptr;
};

/// Sets the hooks of the process. Must be called before any other thread uses the library.
void set_blocking_hooks(BlockingHooks hooks);

/// Marks the rest of the scope as blocking work. No mutex may be held: another thread may need it while holding the
/// caller's lock.
class BlockingScope {
 public:
  BlockingScope();
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;
  ~BlockingScope();

 private:
  void* state_ = nullptr;
};

/// Marks a section that relies on something that the caller's lock protects and that it neither copied nor owns: the
/// type and the memory of a handle that Python holds, or a reference into a container that Python may change. Debug
/// builds and sanitizers abort if the lock is released in it.
class BorrowScope {
 public:
  BorrowScope() {
    if constexpr (LUCID_CHECKS_LOCKS) count(1);
  }
  BorrowScope(const BorrowScope&) = delete;
  BorrowScope& operator=(const BorrowScope&) = delete;
  ~BorrowScope() { end(); }

  /// Ends the section early.
  void end() {
    if constexpr (LUCID_CHECKS_LOCKS)
      if (std::exchange(is_open_, false)) count(-1);
  }

 private:
  static void count(int change);
  bool is_open_ = true;
};

/// In debug builds, aborts the process if this thread holds a mutex or is in a BorrowScope: whoever calls it is about
/// to release the caller's lock.
void check_may_block(const char* what);

/// Waiting threads call this periodically and after a signal, without holding a mutex.
void check_interrupts();

}  // namespace lucid
