#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

// Debug builds and sanitizers check the order of locks, and that none is held where the caller's lock is given up.
#if !defined(NDEBUG) || defined(LUCID_SANITIZED)
#define LUCID_CHECKS_LOCKS true
#else
#define LUCID_CHECKS_LOCKS false
#endif

namespace lucid {

/// The locks of the library, in the order in which one thread may take them: while it holds one, it may take only locks
/// further down. docs/decisions/0013-locks-and-lifetimes.md says what each one guards.
enum class LockRank : uint8_t {
  kPlanTables,
  kPlanTable,
  kBackwardPart,
  kViewNode,
  kLeafEnd,
  kHooks,
  kGenerator,
  kPlanStore,
  kCompileQueue,
  kKernelCache,
  kObjectStore,
  kTargetMachines,
  kCodeMemory,
  kDebugger,
  kCell,
  kPackedForms,
  kAllocator,
  kGuardedMemory,
  kOptions,
  kLog,
  kCount,
};

/// Ends the process where a debug build finds that this thread holds a lock. `what` names what may not happen then.
void check_no_lock_is_held(const char* what);

namespace lock_detail {
void note_locked(LockRank rank);
void note_unlocked(LockRank rank);
}  // namespace lock_detail

/// A mutex with a place in the order of locks. It is held for a few memory accesses, never while Python may run, the
/// interpreter's lock may be given up, or a kernel runs.
class Mutex {
 public:
  constexpr explicit Mutex(LockRank rank) : rank_(rank) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() {
    if constexpr (LUCID_CHECKS_LOCKS) lock_detail::note_locked(rank_);
    uint32_t state = kFree;
    if (!state_.compare_exchange_strong(state, kLocked, std::memory_order_acquire)) [[unlikely]]
      wait();
  }
  void unlock() {
    if constexpr (LUCID_CHECKS_LOCKS) lock_detail::note_unlocked(rank_);
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) [[unlikely]]
      state_.notify_one();
  }

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kLocked = 1;
  static constexpr uint32_t kAwaited = 2;

  void wait();

  std::atomic<uint32_t> state_ = kFree;
  const LockRank rank_;
};

/// How many mutexes there are of each rank. Objects share them, so that a fork can find all of them free.
inline constexpr size_t kLockStripes = 64;

/// The process's mutex of a rank. A fork waits until nobody holds it.
Mutex& mutex_of(LockRank rank);
/// The one that an object shares with others. A thread holds at most one of each rank.
Mutex& mutex_of(LockRank rank, const void* object);
Mutex& mutex_of(LockRank rank, size_t stripe);

}  // namespace lucid
