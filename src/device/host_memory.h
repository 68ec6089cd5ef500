#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/lock.h"
#include "device/buffer.h"
#include "device/timeline.h"

namespace lucid {

/// Memory that both the host and the gpu can access.
struct HostBlock {
  char* data = nullptr;
  /// Its address for the gpu.
  uint64_t address = 0;
  VkBuffer buffer = nullptr;
  uint64_t offset = 0;
  size_t bytes = 0;

 private:
  friend class GpuHostMemory;
  /// The submission that uses it last.
  uint64_t last_use = 0;
  HostBlock* next = nullptr;
};

/// Blocks for arguments and for staging, in powers of two. A freed block is used again when the submissions that use it
/// have ended.
class GpuHostMemory {
 public:
  GpuHostMemory(GpuDevice& device, GpuTimeline& timeline);
  GpuHostMemory(const GpuHostMemory&) = delete;
  GpuHostMemory& operator=(const GpuHostMemory&) = delete;
  ~GpuHostMemory();

  /// A block of at least this size, with any contents. Throws MemoryError.
  HostBlock* take(size_t bytes);
  /// Frees a block that submissions up to number `last_use` use.
  void give(HostBlock* block, uint64_t last_use) noexcept;

 private:
  static constexpr size_t kSmallest = 256;
  static constexpr int kClasses = 40;

  /// The blocks of one size in the order in which they were freed.
  struct FreeList {
    HostBlock* first = nullptr;
    HostBlock* last = nullptr;
  };

  Mutex& mutex() const;
  HostBlock* take_free(int size_class);

  GpuDevice& device_;
  GpuTimeline& timeline_;
  std::array<FreeList, kClasses> free_;
  std::vector<std::unique_ptr<GpuBuffer>> buffers_;
  std::vector<std::unique_ptr<HostBlock[]>> blocks_;
};

}  // namespace lucid
