#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lucid {

/// Blocks from here up are mapped on their own, in huge pages where the system has them.
inline constexpr size_t kMappedBlock = size_t{2} << 20;

/// Sizes above this are rounded up to eighths of a power of two, so that blocks of similar sizes can serve each other.
inline constexpr size_t kLargestSmallBlock = 4096;
size_t large_block_size(size_t bytes);

/// Takes a block of a size that large_block_size gave from the system; null if it has none.
void* system_allocate(size_t size);
void system_release(void* data, size_t size);

/// Blocks that were given back, by size, the most recent first; their memory is likely still in the processor's cache.
/// It keeps its notes in the blocks themselves. Not synchronised.
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
  /// Removes the blocks that were given back longest ago until no more than `limit` bytes are left, and returns them
  /// chained by `after`, for release_all.
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
