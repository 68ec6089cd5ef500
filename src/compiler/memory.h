#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lucid {

/// Blocks lie at multiples of this.
inline constexpr int64_t kArenaAlignment = 64;

/// A block that a plan needs from one step to another, both included.
struct ArenaBlock {
  int64_t bytes = 0;
  std::size_t first_step = 0;
  std::size_t last_step = 0;
  int64_t offset = 0;  // assigned
  int32_t room = -1;   // assigned: the room that it lies in, or the arena
};

/// Memory besides the arena that is free from one step to another, both included.
struct ArenaRoom {
  int64_t bytes = 0;
  std::size_t first_step = 0;
  std::size_t last_step = 0;
};

/// A block that may begin where another one is, in the step in which that is used last.
struct BlockReuse {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Places the blocks so that those alive at the same time do not overlap, each at a multiple of kArenaAlignment.
/// Returns the arena's size. Each block of `reuses` lies where the other one does, if that is free for it. Large blocks
/// lie in a room if there is one that has space for them.
int64_t place_blocks(std::vector<ArenaBlock>& blocks, std::span<const BlockReuse> reuses = {},
                     std::span<const ArenaRoom> rooms = {});

}  // namespace lucid
