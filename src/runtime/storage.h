#pragma once

#include <cstddef>
#include <functional>

#include "base/pool.h"
#include "base/ref.h"

namespace lucid {

/// A block of memory. Storage never moves or changes size; cells swap one storage for another.
class Storage : public RefCounted, public Pooled<Storage> {
 public:
  /// Uninitialised memory from the caching allocator, 64-byte aligned. Throws MemoryError.
  static Ref<Storage> allocate(size_t bytes);
  /// Memory owned by other code; `release` runs when the last reference is dropped.
  static Ref<Storage> borrow(void* data, size_t bytes, std::function<void()> release);

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  /// True for memory from borrow(): it may change without notice, so nothing derived from it is cached.
  bool borrowed() const { return static_cast<bool>(release_); }
  ~Storage() override;

 private:
  Storage(void* data, size_t bytes, std::function<void()> release);
  void* data_;
  size_t bytes_;
  std::function<void()> release_;
};

}  // namespace lucid
