#include "compiler/slot_map.h"

#include <algorithm>

#include "schedule/buffer_reuse.h"

namespace lucid {
namespace {

using Blocks = std::map<MemoryKey, ArenaBlock>;

/// The slots of buffers in the caller's memory, of packed forms and of the error word.
SlotMap fixed_slots(const IRGraph& graph, const Schedule& schedule) {
  SlotMap map;
  for (size_t i = 0; i < graph.output_ids.size(); ++i)
    map.slots[{BufferUse::Kind::kValue, schedule.layouts.at(graph.output_ids[i]).storage}] = {
        Slot::Area::kOutput, static_cast<int32_t>(i), 0};
  for (size_t i = 0; i < graph.input_ids.size(); ++i)
    map.slots[{BufferUse::Kind::kValue, graph.input_ids[i]}] = {Slot::Area::kInput, static_cast<int32_t>(i), 0};
  map.slots[{BufferUse::Kind::kError, 0}] = {Slot::Area::kError, 0, 0};
  for (const KernelStep& step : schedule.steps) {
    if (map.packed_input(step) < 0) continue;
    const BufferUse& form = step.buffers.back();
    map.slots[key_of(form)] = {Slot::Area::kPacked, static_cast<int32_t>(map.packed_bytes.size()), 0};
    map.packed_bytes.push_back(static_cast<size_t>(schedule.scratch_bytes[static_cast<size_t>(form.index)]));
  }
  return map;
}

/// The other buffers, each live from the first step that uses it to the last.
Blocks blocks_of(const IRGraph& graph, const Schedule& schedule, const SlotMap& fixed) {
  Blocks blocks;
  for (size_t step = 0; step < schedule.steps.size(); ++step)
    for_each_use(schedule.steps[step], [&](const BufferUse& use) {
      const MemoryKey key = key_of(use);
      if (fixed.slots.contains(key)) return;
      const auto [block, is_new] = blocks.try_emplace(key);
      if (is_new) {
        block->second.first_step = step;
        block->second.bytes = memory_bytes(graph, schedule, key);
      }
      block->second.last_step = step;
    });
  return blocks;
}

/// The memory of outputs before they are written, after the last check that can fail: until then it may hold values
/// that must survive a failed check.
std::vector<FreeRegion> free_regions(const IRGraph& graph, const Schedule& schedule,
                                     std::span<const size_t> free_outputs) {
  size_t first_safe = 0;
  std::map<MemoryKey, size_t> first_uses;
  for (size_t step = 0; step < schedule.steps.size(); ++step) {
    if (may_fail(schedule.steps[step])) first_safe = step + 1;
    for_each_use(schedule.steps[step], [&](const BufferUse& use) { first_uses.try_emplace(key_of(use), step); });
  }
  std::vector<FreeRegion> regions;
  for (size_t output : free_outputs) {
    const MemoryKey key{BufferUse::Kind::kValue, schedule.layouts.at(graph.output_ids[output]).storage};
    const auto first = first_uses.find(key);
    const bool is_free = first != first_uses.end() && first->second > first_safe;
    regions.push_back(is_free ? FreeRegion{memory_bytes(graph, schedule, key), first_safe, first->second - 1}
                              : FreeRegion{});
  }
  return regions;
}

}  // namespace

Slot SlotMap::slot(const BufferUse& use) const {
  Slot slot = slots.at(key_of(use));
  slot.byte_offset += use.byte_offset;
  return slot;
}

int32_t SlotMap::packed_input(const KernelStep& step) const {
  if (step.packs < 0) return -1;
  const auto found = slots.find({BufferUse::Kind::kValue, step.packs});
  return found != slots.end() && found->second.area == Slot::Area::kInput ? found->second.index : -1;
}

int64_t memory_bytes(const IRGraph& graph, const Schedule& schedule, const MemoryKey& key) {
  if (key.first == BufferUse::Kind::kError) return sizeof(int64_t);
  if (key.first == BufferUse::Kind::kScratch) return schedule.scratch_bytes[static_cast<size_t>(key.second)];
  const TensorType& type = graph.type(key.second);
  return std::max<int64_t>(numel(type.shape), 1) * static_cast<int64_t>(size_of(type.dtype));
}

std::vector<MemoryReuse> find_reuses(const IRGraph& graph, const Schedule& schedule) {
  // A buffer that is live in one step only is written in it, so no other can reuse its memory there.
  struct Ends {
    std::vector<MemoryKey> last;
    std::vector<MemoryKey> first;
  };
  std::vector<Ends> ends(schedule.steps.size());
  for (const auto& [key, block] : blocks_of(graph, schedule, fixed_slots(graph, schedule))) {
    if (block.first_step < block.last_step) ends[block.last_step].last.push_back(key);
    ends[block.first_step].first.push_back(key);
  }
  std::vector<MemoryReuse> reuses;
  for (size_t step = 0; step < ends.size(); ++step)
    for (const MemoryKey& written : ends[step].first)
      for (const MemoryKey& read : ends[step].last)
        if (may_reuse_in_place(schedule.steps[step], read, written)) reuses.push_back({read, written});
  return reuses;
}

SlotMap place_buffers(const IRGraph& graph, const Schedule& schedule, std::span<const MemoryReuse> reuses,
                      std::span<const size_t> free_outputs) {
  SlotMap map = fixed_slots(graph, schedule);
  const Blocks blocks = blocks_of(graph, schedule, map);
  std::vector<ArenaBlock> placed;
  std::map<MemoryKey, size_t> indices;
  for (const auto& [key, block] : blocks) {
    indices[key] = placed.size();
    placed.push_back(block);
  }
  std::vector<BlockReuse> block_reuses;
  for (const auto& [from, to] : reuses) block_reuses.push_back({indices.at(from), indices.at(to)});
  map.arena_bytes = place_blocks(placed, block_reuses, free_regions(graph, schedule, free_outputs));
  for (const auto& [key, index] : indices) {
    const ArenaBlock& block = placed[index];
    map.slots[key] = block.region < 0
                         ? Slot{Slot::Area::kArena, 0, block.offset}
                         : Slot{Slot::Area::kOutput,
                                static_cast<int32_t>(free_outputs[static_cast<size_t>(block.region)]), block.offset};
  }
  return map;
}

}  // namespace lucid
