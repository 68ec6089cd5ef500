#pragma once

#include <cstddef>
#include <functional>

#include "base/device.h"
#include "base/pool.h"
#include "base/ref.h"

namespace lucid {

/// A block of memory on a device. Storage never moves or changes size; cells swap one storage for another.
class Storage : public RefCounted, public Pooled<Storage> {
 public:
  /// Uninitialised memory from the caching allocator of the device, at least 64-byte aligned. Throws MemoryError.
  static Ref<Storage> allocate(size_t bytes, Device device = kCpuDevice);
  /// Memory owned by other code; `release` runs when the last reference is dropped.
  static Ref<Storage> borrow(void* data, size_t bytes, std::function<void()> release);

  /// A copy on the same device.
  Ref<Storage> copy() const;

  /// The address, which the host must not access if the memory is on a gpu.
  void* data() const { return data_; }
  Device device() const { return device_; }
  size_t bytes() const { return bytes_; }
  /// True for memory from borrow(): it may change without notice, so nothing derived from it is cached.
  bool borrowed() const { return static_cast<bool>(release_); }
  ~Storage() override;

 private:
  Storage(void* data, size_t bytes, Device device, std::function<void()> release);
  void* data_;
  size_t bytes_;
  Device device_;
  std::function<void()> release_;
};

/// Copies bytes within the memory of a device. The ranges must not overlap.
void copy_bytes(Device device, void* to, const void* from, size_t bytes);
/// Copies bytes between the host and a device. Reading waits for the work that writes them.
void read_bytes(Device device, void* to, const void* from, size_t bytes);
void write_bytes(Device device, void* to, const void* from, size_t bytes);

}  // namespace lucid
