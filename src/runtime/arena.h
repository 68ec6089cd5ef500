#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lucid {

/// Alignment of blocks in bytes.
inline constexpr int64_t kArenaAlignment = 64;

/// A block that is live from one step to another, both included.
struct ArenaBlock {
  int64_t bytes = 0;
  std::size_t first_step = 0;
  std::size_t last_step = 0;
  int64_t offset = 0;   // assigned by place_blocks()
  int32_t region = -1;  // assigned: the free region that contains it, or -1 for the arena
};

/// Memory outside the arena that is free from one step to another, both included.
struct FreeRegion {
  int64_t bytes = 0;
  std::size_t first_step = 0;
  std::size_t last_step = 0;
};

/// A block, `to`, that may reuse the memory of `from` in the last step that uses `from`.
struct BlockReuse {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Assigns offsets, multiples of kArenaAlignment, such that blocks that are live at the same time do not overlap.
/// Returns the size of the arena. A block of `reuses` gets the memory of the other one if possible. Large blocks are
/// placed in a free region if one has enough space.
int64_t place_blocks(std::vector<ArenaBlock>& blocks, std::span<const BlockReuse> reuses = {},
                     std::span<const FreeRegion> regions = {});

}  // namespace lucid
