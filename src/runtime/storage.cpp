#include "runtime/storage.h"

#include <cstring>
#include <utility>

#include "device/gpu.h"
#include "runtime/allocator.h"
#include "runtime/imported_memory.h"

namespace lucid {

Storage::Storage(void* data, size_t bytes, Device device, std::function<void()> release)
    : data_(data), bytes_(bytes), device_(device), release_(std::move(release)) {}

Ref<Storage> Storage::allocate(size_t bytes, Device device) {
  void* const data = device.is_gpu() ? Gpu::at(device.index()).allocate(bytes) : lucid::allocate(bytes);
  return Ref<Storage>::adopt(new Storage(data, bytes, device, nullptr));
}

Ref<Storage> Storage::copy() const {
  Ref<Storage> copy = allocate(bytes_, device_);
  copy_bytes(device_, copy->data(), data_, bytes_);
  return copy;
}

Ref<Storage> Storage::borrow(void* data, size_t bytes, std::function<void()> release) {
  if (!release) release = [] {};
  add_imported_memory(data, bytes);
  try {
    return Ref<Storage>::adopt(new Storage(data, bytes, kCpuDevice, std::move(release)));
  } catch (...) {
    remove_imported_memory(data, bytes);
    throw;
  }
}

Storage::~Storage() {
  if (device_.is_gpu()) {
    Gpu::at(device_.index()).deallocate(data_, bytes_);
  } else if (!release_) {
    deallocate(data_, bytes_);
  } else {
    // Once released, the same addresses may be borrowed again.
    remove_imported_memory(data_, bytes_);
    release_();
  }
}

void copy_bytes(Device device, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (device.is_gpu())
    Gpu::at(device.index()).copy(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

void read_bytes(Device device, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (device.is_gpu())
    Gpu::at(device.index()).download(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

void write_bytes(Device device, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (device.is_gpu())
    Gpu::at(device.index()).upload(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

}  // namespace lucid
