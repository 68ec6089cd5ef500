#pragma once

#include <cstddef>
#include <cstdint>

#include "device/open_device.h"

namespace lucid {

/// Memory of a device with a buffer that spans it.
class GpuBuffer {
 public:
  enum class Kind : uint8_t {
    kDevice,  // fastest for the gpu; the host may be able to access it
    kHost,    // coherent memory of the host, which the gpu can access
  };
  /// Throws MemoryError if there is not enough memory.
  GpuBuffer(GpuDevice& device, size_t bytes, Kind kind);
  GpuBuffer(const GpuBuffer&) = delete;
  GpuBuffer& operator=(const GpuBuffer&) = delete;
  /// No pending work may use it.
  ~GpuBuffer();

  VkBuffer handle() const { return buffer_; }
  uint64_t address() const { return address_; }
  size_t bytes() const { return bytes_; }
  /// Its address for the host; null if the host cannot access it.
  char* mapped() const { return mapped_; }
  /// Whether the host can read it fast.
  bool is_cached() const { return is_cached_; }

 private:
  void allocate(Kind kind);
  void destroy() noexcept;

  GpuDevice& device_;
  const size_t bytes_;
  VkBuffer buffer_ = nullptr;
  VkDeviceMemory memory_ = nullptr;
  uint64_t address_ = 0;
  char* mapped_ = nullptr;
  bool is_cached_ = false;
};

/// The size of the largest heap of the device's own memory.
uint64_t device_heap_bytes(const GpuDevice& device);

}  // namespace lucid
