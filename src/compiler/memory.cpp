#include "compiler/memory.h"

#include <algorithm>
#include <numeric>

namespace lucid {
namespace {

constexpr int64_t kAlignment = 64;

bool alive_together(const ArenaBlock& a, const ArenaBlock& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

int64_t place_separately(std::vector<ArenaBlock>& blocks) {
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

}  // namespace

int64_t place_blocks(std::vector<ArenaBlock>& blocks, std::span<const BlockReuse> reuses) {
  // Blocks that follow each other in one place are one block, named by the first, for as long as any of them is needed.
  std::vector<size_t> before(blocks.size());
  std::iota(before.begin(), before.end(), size_t{0});
  const auto first_of = [&](size_t block) {
    while (before[block] != block) block = before[block];
    return block;
  };
  std::vector<ArenaBlock> merged = blocks;
  std::vector<bool> is_left(blocks.size());
  for (const auto& [from, to] : reuses) {
    if (is_left[from] || before[to] != to || first_of(from) == to) continue;
    if (blocks[from].last_step != blocks[to].first_step) continue;
    is_left[from] = true;
    before[to] = from;
    ArenaBlock& whole = merged[first_of(from)];
    whole.bytes = std::max(whole.bytes, merged[to].bytes);
    whole.last_step = std::max(whole.last_step, merged[to].last_step);
  }
  std::vector<ArenaBlock> placed;
  std::vector<size_t> position(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (before[i] != i) continue;
    position[i] = placed.size();
    placed.push_back(merged[i]);
  }
  const int64_t total = place_separately(placed);
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i].offset = placed[position[first_of(i)]].offset;
  return total;
}

}  // namespace lucid
