#include "compiler/memory.h"

#include <algorithm>
#include <numeric>

namespace lucid {
namespace {

// Smaller blocks are better off beside each other.
constexpr int64_t kLargeBlock = int64_t{64} << 10;

bool alive_together(const ArenaBlock& a, const ArenaBlock& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

/// Blocks in one piece of memory, by ascending offsets.
class Places {
 public:
  /// The lowest offset at which a block would lie apart from those that are alive with it.
  int64_t offset_for(const ArenaBlock& block) const {
    int64_t offset = 0;
    for (const ArenaBlock* other : placed_) {
      if (!alive_together(block, *other)) continue;
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

/// Finds the room with the least space in which a block fits.
bool place_in_rooms(ArenaBlock& block, std::span<const ArenaRoom> rooms, std::vector<Places>& places) {
  if (block.bytes < kLargeBlock) return false;
  int64_t offset = 0;
  for (size_t i = 0; i < rooms.size(); ++i) {
    const ArenaRoom& room = rooms[i];
    if (block.first_step < room.first_step || block.last_step > room.last_step || block.bytes > room.bytes) continue;
    if (block.room >= 0 && rooms[static_cast<size_t>(block.room)].bytes <= room.bytes) continue;
    const int64_t here = places[i].offset_for(block);
    if (here + block.bytes > room.bytes) continue;
    block.room = static_cast<int32_t>(i);
    offset = here;
  }
  if (block.room < 0) return false;
  places[static_cast<size_t>(block.room)].put(block, offset);
  return true;
}

int64_t place_separately(std::vector<ArenaBlock>& blocks, std::span<const ArenaRoom> rooms) {
  // Largest first: what is hard to place gets the low addresses, and small blocks fill the gaps.
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return blocks[a].bytes != blocks[b].bytes ? blocks[a].bytes > blocks[b].bytes : a < b;
  });
  int64_t total = 0;
  Places arena;
  std::vector<Places> in_rooms(rooms.size());
  for (size_t index : order) {
    ArenaBlock& block = blocks[index];
    if (place_in_rooms(block, rooms, in_rooms)) continue;
    arena.put(block, arena.offset_for(block));
    total = std::max(total, block.offset + block.bytes);
  }
  return total;
}

}  // namespace

int64_t place_blocks(std::vector<ArenaBlock>& blocks, std::span<const BlockReuse> reuses,
                     std::span<const ArenaRoom> rooms) {
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
  const int64_t total = place_separately(placed, rooms);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const ArenaBlock& place = placed[position[first_of(i)]];
    blocks[i].offset = place.offset;
    blocks[i].room = place.room;
  }
  return total;
}

}  // namespace lucid
