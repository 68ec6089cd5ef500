#pragma once

#include <atomic>
#include <cstdint>

#include "base/fork_count.h"
#include "base/ref.h"

namespace lucid {

/// A reference that several threads may read and replace. A reader always gets a live object: it is retained before
/// another thread can release it.
template <typename T>
class AtomicRef {
 public:
  AtomicRef() = default;
  explicit AtomicRef(Ref<T> ref) : bits_(to_bits(ref.detach())) {}
  AtomicRef(const AtomicRef&) = delete;
  AtomicRef& operator=(const AtomicRef&) = delete;
  ~AtomicRef() { Ref<T>::adopt(to_pointer(bits_.load(std::memory_order_acquire))); }

  Ref<T> load() const {
    T* const pointer = lock();
    Ref<T> ref(pointer);
    unlock(pointer);
    return ref;
  }
  /// Returns the previous reference.
  Ref<T> exchange(Ref<T> next) {
    T* const before = lock();
    unlock(next.detach());
    return Ref<T>::adopt(before);
  }
  void store(Ref<T> next) { exchange(std::move(next)); }
  /// For comparisons only: the object may be destroyed at any moment, unless the caller knows that it is referenced.
  T* get() const { return to_pointer(bits_.load(std::memory_order_acquire)); }
  explicit operator bool() const { return get() != nullptr; }

 private:
  // The lowest bits are nonzero while a thread holds the lock, for a few instructions. Their value identifies the
  // process by its forks: a lock that a thread of the parent held is free in the child, which does not have that
  // thread.
  static constexpr uintptr_t kLockBits = 15;
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ > kLockBits);

  static uintptr_t to_bits(T* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  static T* to_pointer(uintptr_t bits) { return reinterpret_cast<T*>(bits & ~kLockBits); }

  T* lock() const {
    const uintptr_t mine = 1 + fork_count() % kLockBits;
    while (true) {
      uintptr_t bits = bits_.load(std::memory_order_relaxed);
      if ((bits & kLockBits) != mine &&
          bits_.compare_exchange_weak(bits, (bits & ~kLockBits) | mine, std::memory_order_acquire)) [[likely]]
        return to_pointer(bits);
      __builtin_ia32_pause();
    }
  }
  void unlock(T* pointer) const { bits_.store(to_bits(pointer), std::memory_order_release); }

  mutable std::atomic<uintptr_t> bits_ = 0;
};

}  // namespace lucid
