#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lucid {

/// A block that a plan needs from one step to another, both included.
struct ArenaBlock {
  int64_t bytes = 0;
  std::size_t first_step = 0;
  std::size_t last_step = 0;
  int64_t offset = 0;  // assigned
};

/// Places the blocks so that those alive at the same time do not overlap, each at a multiple of 64 bytes. Returns the
/// arena's size.
int64_t place_blocks(std::vector<ArenaBlock>& blocks);

}  // namespace lucid
