#pragma once

#include <utility>

#include "base/ref.h"
#include "base/small_vector.h"

namespace lucid {

/// A list of counted references. The first `kInline` are stored in the list itself.
template <typename T, size_t kInline>
class RefList {
 public:
  RefList() = default;
  RefList(const RefList&) = delete;
  RefList& operator=(const RefList&) = delete;
  ~RefList() { clear(); }

  void clear() {
    for (T* pointer : pointers_) Ref<T>::adopt(pointer);
    pointers_.clear();
  }
  void push_back(Ref<T> ref) {
    pointers_.push_back(ref.get());
    ref.detach();
  }
  /// Null if the reference was taken or was null.
  T* operator[](size_t i) const { return pointers_[i]; }
  void set(size_t i, Ref<T> ref) { Ref<T>::adopt(std::exchange(pointers_[i], ref.detach())); }
  /// New references are null.
  void resize(size_t size) {
    while (pointers_.size() > size) {
      Ref<T>::adopt(pointers_.back());
      pointers_.pop_back();
    }
    pointers_.resize(size);
  }
  size_t size() const { return pointers_.size(); }
  Ref<T> take(size_t i) { return Ref<T>::adopt(std::exchange(pointers_[i], nullptr)); }
  std::span<T* const> pointers() const { return {pointers_.data(), pointers_.size()}; }

 private:
  SmallVector<T*, kInline> pointers_;
};

}  // namespace lucid
