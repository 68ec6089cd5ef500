#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lucid {

/// Blocks of at least this size are mapped individually, in huge pages if the system supports them.
inline constexpr size_t kMappedBlock = size_t{2} << 20;

/// Sizes above this are rounded up to eighths of a power of two, so that a block can be reused for similar sizes.
inline constexpr size_t kLargestSmallBlock = 4096;
size_t large_block_size(size_t bytes);

/// Allocates a block from the system. `size` must be a result of large_block_size(). Null if there is no memory.
void* system_allocate(size_t size);
void system_release(void* data, size_t size);

/// Freed blocks by size, the most recent first, because its memory is likely still in the processor's cache. The list
/// nodes are stored in the blocks themselves. Not synchronised.
class BlockCache {
 public:
  struct Block {
    Block* newer;
    Block* older;
    /// Neighbours among the blocks of one size.
    Block* before;
    Block* after;
    size_t size;
  };

  /// A block of exactly this size, or null.
  void* take(size_t size);
  void give(void* data, size_t size);
  /// Removes the blocks that were freed longest ago until at most `limit` bytes are left. Returns them linked by
  /// `after`, for release_all().
  Block* shrink(size_t limit);
  static void release_all(Block* blocks);
  size_t bytes() const { return bytes_; }

 private:
  void remove(Block* block);

  static constexpr size_t kBuckets = 8 * 52;
  std::array<Block*, kBuckets> buckets_{};
  Block* newest_ = nullptr;
  Block* oldest_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace lucid
