#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace lucid {

/// Base of reference-counted objects. Counting is atomic, because handles cross threads. The count starts at one, for
/// the creator: make_ref adopts it, so that a new object costs no atomic operation.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  /// Returns true if this was the last reference, so that the caller must destroy the object.
  bool release() const {
    // No other thread can copy the only reference, so no atomic subtraction is needed.
    if (count_.load(std::memory_order_acquire) == 1) return true;
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  uint32_t use_count() const { return count_.load(std::memory_order_acquire); }

 protected:
  virtual ~RefCounted() = default;
  template <typename>
  friend class Ref;

 private:
  mutable std::atomic<uint32_t> count_{1};
};

/// A counted reference to a RefCounted object; one pointer wide.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}                 // NOLINT
  Ref(T* pointer) : pointer_(pointer) {  // NOLINT
    if (pointer_) pointer_->retain();
  }
  Ref(const Ref& other) : Ref(other.pointer_) {}
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <typename U>
    requires std::is_convertible_v<U*, T*>
  Ref(const Ref<U>& other) : Ref(other.get()) {}  // NOLINT
  template <typename U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U>&& other) noexcept : pointer_(other.detach()) {}  // NOLINT
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Ref() {
    if (pointer_ && pointer_->release()) destroy(pointer_);
  }

  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  bool operator==(const Ref& other) const = default;
  void reset() { *this = Ref(); }
  /// Gives up ownership without releasing.
  T* detach() { return std::exchange(pointer_, nullptr); }
  /// Takes ownership of a detached reference, or of the first reference to a new object.
  static Ref adopt(T* pointer) {
    Ref ref;
    ref.pointer_ = pointer;
    return ref;
  }

 private:
  static void destroy(const RefCounted* object) { delete object; }
  T* pointer_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace lucid
