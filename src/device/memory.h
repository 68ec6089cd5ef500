#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/lock.h"
#include "device/buffer.h"
#include "device/gpu.h"

namespace lucid {

/// The alignment of every allocation.
inline constexpr size_t kGpuAlignment = 256;

/// The memory of a gpu: few large buffers, cut into blocks. An allocation takes the smallest free block that fits;
/// freed blocks merge with their free neighbours. Freed memory may be used again at once, because later work on the gpu
/// is ordered behind the work that used it before.
class GpuMemory {
 public:
  explicit GpuMemory(GpuDevice& device);
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory();

  /// Returns null if there is not enough memory.
  void* allocate(size_t bytes);
  void deallocate(void* address, size_t bytes) noexcept;
  [[noreturn]] void throw_exhausted(size_t bytes) const;

  /// Part of a buffer, at most one of which contains an address.
  struct Place {
    const GpuBuffer* buffer = nullptr;
    uint64_t offset = 0;

    /// The address for the host, null if it cannot access the memory.
    char* mapped() const { return buffer->mapped() ? buffer->mapped() + offset : nullptr; }
  };
  /// Throws InternalError if the range is not inside one buffer.
  Place locate(const void* address, size_t bytes) const;

  MemoryStats stats() const;
  void reset_peak();

  /// Returns the buffers without allocations to the device, after `wait_for_work` has waited for all work that was
  /// passed to the gpu before.
  void release_unused(const std::function<void()>& wait_for_work);

 private:
  struct Chunk;
  using Chunks = std::vector<std::unique_ptr<Chunk>>;
  struct Block;
  struct Smaller {
    using is_transparent = void;
    bool operator()(const Block* a, const Block* b) const;
    bool operator()(const Block* block, size_t bytes) const;
  };
  using FreeBlocks = std::set<Block*, Smaller>;

  Mutex& mutex() const;
  /// The caller holds the mutex in these.
  void* take_block(size_t bytes);
  void insert_chunk(std::unique_ptr<Chunk> chunk);
  void free_block(Block* block) noexcept;
  Block* absorb_next(Block* block) noexcept;

  /// Takes a new buffer from the device; returns whether there was memory for it.
  bool grow(size_t bytes);
  uint64_t limit() const;

  GpuDevice& device_;
  Chunks chunks_;  // sorted by address
  FreeBlocks free_blocks_;
  std::unordered_map<uint64_t, Block*> used_blocks_;  // by address
  /// Bytes of all buffers, including those that are being taken from the device.
  size_t reserved_bytes_ = 0;
  MemoryStats stats_;
};

}  // namespace lucid
