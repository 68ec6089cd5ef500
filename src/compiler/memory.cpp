#include "compiler/memory.h"

#include <algorithm>
#include <numeric>

namespace lucid {
namespace {

constexpr int64_t kAlignment = 64;

bool alive_together(const ArenaBlock& a, const ArenaBlock& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

}  // namespace

int64_t place_blocks(std::vector<ArenaBlock>& blocks) {
  // Largest first: what is hard to place gets the low addresses, and small blocks fill the gaps.
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return blocks[a].bytes != blocks[b].bytes ? blocks[a].bytes > blocks[b].bytes : a < b;
  });
  int64_t total = 0;
  std::vector<const ArenaBlock*> placed;
  for (size_t index : order) {
    ArenaBlock& block = blocks[index];
    int64_t offset = 0;
    for (const ArenaBlock* other : placed) {  // ascending offsets
      if (!alive_together(block, *other)) continue;
      if (offset + block.bytes <= other->offset) break;
      const int64_t end = other->offset + other->bytes;
      offset = std::max(offset, (end + kAlignment - 1) / kAlignment * kAlignment);
    }
    block.offset = offset;
    total = std::max(total, offset + block.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &block,
                                   [](const ArenaBlock* a, const ArenaBlock* b) { return a->offset < b->offset; }),
                  &block);
  }
  return total;
}

}  // namespace lucid
