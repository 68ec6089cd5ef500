#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

// Debug and sanitizer builds check the order of locks, and that none is held while the caller's lock is released.
#if !defined(NDEBUG) || defined(LUCID_SANITIZED)
#define LUCID_CHECKS_LOCKS true
#else
#define LUCID_CHECKS_LOCKS false
#endif

namespace lucid {

/// The locks of the library, in the order in which a thread may acquire them: while it holds one, it may only acquire
/// locks further down. docs/decisions/0013-locks-and-lifetimes.md lists what each one protects.
enum class LockRank : uint8_t {
  kPlanTables,
  kPlanTable,
  kPlanFamily,
  kBackwardPart,
  kViewNode,
  kLeafAccumulator,
  kHooks,
  kGenerator,
  kEagerPlanCache,
  kCompileQueue,
  kKernelCache,
  kObjectStore,
  kTargetMachines,
  kCodeMemory,
  kDebugger,
  kCell,
  kPackedForms,
  kHandle,
  kGpuCommands,
  kGpu,
  kGpuMemory,
  kAllocator,
  kGuardedMemory,
  kImportedMemory,
  kOptions,
  kLog,
  kCount,
};

/// In debug builds, aborts the process if this thread holds a lock. `what` describes the operation that forbids it.
void check_no_lock_is_held(const char* what);

namespace lock_detail {
void on_lock(LockRank rank);
void on_unlock(LockRank rank);
}  // namespace lock_detail

/// A mutex with a rank in the lock order. It is held for a few memory accesses, never while Python code may run, the
/// interpreter's lock may be released, or a kernel runs.
class Mutex {
 public:
  constexpr explicit Mutex(LockRank rank) : rank_(rank) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() {
    if constexpr (LUCID_CHECKS_LOCKS) lock_detail::on_lock(rank_);
    uint32_t state = kFree;
    if (!state_.compare_exchange_strong(state, kLocked, std::memory_order_acquire)) [[unlikely]]
      wait();
  }
  void unlock() {
    if constexpr (LUCID_CHECKS_LOCKS) lock_detail::on_unlock(rank_);
    if (state_.exchange(kFree, std::memory_order_release) == kContended) [[unlikely]]
      state_.notify_one();
  }

 private:
  static constexpr uint32_t kFree = 0;
  static constexpr uint32_t kLocked = 1;
  static constexpr uint32_t kContended = 2;

  void wait();

  std::atomic<uint32_t> state_ = kFree;
  const LockRank rank_;
};

/// Number of mutexes of each rank. Objects share them, so that a fork can acquire all of them.
inline constexpr size_t kLockStripes = 64;

/// The process-wide mutex of a rank. A fork waits until it is free.
Mutex& mutex_of(LockRank rank);
/// The mutex of an object, which other objects share. A thread holds at most one of each rank.
Mutex& mutex_of(LockRank rank, const void* object);
Mutex& mutex_of(LockRank rank, size_t stripe);

}  // namespace lucid
