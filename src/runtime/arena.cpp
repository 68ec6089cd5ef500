#include "runtime/arena.h"

#include <algorithm>
#include <numeric>

namespace lucid {
namespace {

// Smaller blocks are better kept together in the arena.
constexpr int64_t kLargeBlock = int64_t{64} << 10;

bool live_together(const ArenaBlock& a, const ArenaBlock& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

/// The blocks in one area of memory, by ascending offset.
class Area {
 public:
  /// The lowest offset at which a block does not overlap blocks that are live at the same time.
  int64_t offset_for(const ArenaBlock& block) const {
    int64_t offset = 0;
    for (const ArenaBlock* other : placed_) {
      if (!live_together(block, *other)) continue;
      if (offset + block.bytes <= other->offset) break;
      const int64_t end = other->offset + other->bytes;
      offset = std::max(offset, (end + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment);
    }
    return offset;
  }
  void put(ArenaBlock& block, int64_t offset) {
    block.offset = offset;
    placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), &block,
                                    [](const ArenaBlock* a, const ArenaBlock* b) { return a->offset < b->offset; }),
                   &block);
  }

 private:
  std::vector<const ArenaBlock*> placed_;
};

/// Places a block in the smallest free region that it fits into.
bool place_in_regions(ArenaBlock& block, std::span<const FreeRegion> regions, std::vector<Area>& areas) {
  if (block.bytes < kLargeBlock) return false;
  int64_t offset = 0;
  for (size_t i = 0; i < regions.size(); ++i) {
    const FreeRegion& region = regions[i];
    if (block.first_step < region.first_step || block.last_step > region.last_step || block.bytes > region.bytes)
      continue;
    if (block.region >= 0 && regions[static_cast<size_t>(block.region)].bytes <= region.bytes) continue;
    const int64_t candidate = areas[i].offset_for(block);
    if (candidate + block.bytes > region.bytes) continue;
    block.region = static_cast<int32_t>(i);
    offset = candidate;
  }
  if (block.region < 0) return false;
  areas[static_cast<size_t>(block.region)].put(block, offset);
  return true;
}

int64_t place_separately(std::vector<ArenaBlock>& blocks, std::span<const FreeRegion> regions) {
  // Largest first: large blocks get the low offsets, and small blocks fill the gaps.
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return blocks[a].bytes != blocks[b].bytes ? blocks[a].bytes > blocks[b].bytes : a < b;
  });
  int64_t total = 0;
  Area arena;
  std::vector<Area> region_areas(regions.size());
  for (size_t index : order) {
    ArenaBlock& block = blocks[index];
    if (place_in_regions(block, regions, region_areas)) continue;
    arena.put(block, arena.offset_for(block));
    total = std::max(total, block.offset + block.bytes);
  }
  return total;
}

}  // namespace

int64_t place_blocks(std::vector<ArenaBlock>& blocks, std::span<const BlockReuse> reuses,
                     std::span<const FreeRegion> regions) {
  // Blocks that reuse each other's memory are merged into one, identified by the first, which is live as long as any of
  // them.
  std::vector<size_t> predecessor(blocks.size());
  std::iota(predecessor.begin(), predecessor.end(), size_t{0});
  const auto first_of = [&](size_t block) {
    while (predecessor[block] != block) block = predecessor[block];
    return block;
  };
  std::vector<ArenaBlock> merged = blocks;
  std::vector<bool> is_reused(blocks.size());
  for (const auto& [from, to] : reuses) {
    if (is_reused[from] || predecessor[to] != to || first_of(from) == to) continue;
    if (blocks[from].last_step != blocks[to].first_step) continue;
    is_reused[from] = true;
    predecessor[to] = from;
    ArenaBlock& whole = merged[first_of(from)];
    whole.bytes = std::max(whole.bytes, merged[to].bytes);
    whole.last_step = std::max(whole.last_step, merged[to].last_step);
  }
  std::vector<ArenaBlock> placed;
  std::vector<size_t> position(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (predecessor[i] != i) continue;
    position[i] = placed.size();
    placed.push_back(merged[i]);
  }
  const int64_t total = place_separately(placed, regions);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const ArenaBlock& merged_block = placed[position[first_of(i)]];
    blocks[i].offset = merged_block.offset;
    blocks[i].region = merged_block.region;
  }
  return total;
}

}  // namespace lucid
