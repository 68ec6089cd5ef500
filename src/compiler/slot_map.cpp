#include "compiler/slot_map.h"

#include <algorithm>

#include "schedule/buffer_reuse.h"

namespace lucid {
namespace {

using Slots = std::map<MemoryKey, Slot>;

/// The plan's input that a step packs, if any.
std::optional<uint32_t> packed_input(const Slots& slots, const KernelStep& step) {
  if (!step.packs) return {};
  const auto found = slots.find({BufferUse::Kind::kValue, *step.packs});
  if (found == slots.end() || found->second.area != Slot::Area::kInput) return {};
  return static_cast<uint32_t>(found->second.index);
}

/// The buffers in the caller's memory, packed forms and the error word.
BufferTable fixed_buffers(const IRGraph& graph, const Schedule& schedule) {
  BufferTable table;
  for (size_t i = 0; i < graph.output_ids.size(); ++i)
    table.fixed[{BufferUse::Kind::kValue, schedule.layouts.at(graph.output_ids[i]).storage}] = {
        Slot::Area::kOutput, static_cast<int32_t>(i), 0};
  for (size_t i = 0; i < graph.input_ids.size(); ++i)
    table.fixed[{BufferUse::Kind::kValue, graph.input_ids[i]}] = {Slot::Area::kInput, static_cast<int32_t>(i), 0};
  table.fixed[{BufferUse::Kind::kError, 0}] = {Slot::Area::kError, 0, 0};
  for (const KernelStep& step : schedule.steps) {
    if (!table.packed_input(step)) continue;
    const BufferUse& form = step.buffers.back();
    table.fixed[key_of(form)] = {Slot::Area::kPacked, static_cast<int32_t>(table.packed_bytes.size()), 0};
    table.packed_bytes.push_back(schedule.scratch_bytes[static_cast<size_t>(form.index)]);
  }
  return table;
}

/// Adds the other buffers, each live from the first step that uses it to the last, in the order of their keys.
void add_blocks(const IRGraph& graph, const Schedule& schedule, BufferTable& table) {
  std::map<MemoryKey, BufferTable::Block> blocks;
  for (size_t step = 0; step < schedule.steps.size(); ++step)
    for_each_use(schedule.steps[step], [&](const BufferUse& use) {
      const MemoryKey key = key_of(use);
      if (table.fixed.contains(key)) return;
      const auto [block, is_new] = blocks.try_emplace(key);
      if (is_new) block->second = {memory_bytes(graph, schedule, key), step, step};
      block->second.last_step = step;
    });
  for (const auto& [key, block] : blocks) {
    table.indices[key] = table.blocks.size();
    table.blocks.push_back(block);
  }
}

/// Adds the memory of outputs before they are written, after the last check that can fail: until then it may hold
/// values that must survive a failed check.
void add_regions(const IRGraph& graph, const Schedule& schedule, std::span<const size_t> free_outputs,
                 BufferTable& table) {
  size_t first_safe = 0;
  std::map<MemoryKey, size_t> first_uses;
  for (size_t step = 0; step < schedule.steps.size(); ++step) {
    if (may_fail(schedule.steps[step])) first_safe = step + 1;
    for_each_use(schedule.steps[step], [&](const BufferUse& use) { first_uses.try_emplace(key_of(use), step); });
  }
  for (const size_t output : free_outputs) {
    const MemoryKey key{BufferUse::Kind::kValue, schedule.layouts.at(graph.output_ids[output]).storage};
    const auto first = first_uses.find(key);
    if (first != first_uses.end() && first->second > first_safe)
      table.regions.push_back({output, memory_bytes(graph, schedule, key), first_safe, first->second - 1});
  }
}

}  // namespace

std::optional<uint32_t> BufferTable::packed_input(const KernelStep& step) const {
  return lucid::packed_input(fixed, step);
}

std::optional<uint32_t> SlotMap::packed_input(const KernelStep& step) const { return lucid::packed_input(slots, step); }

Slot SlotMap::slot(const BufferUse& use) const {
  Slot slot = slots.at(key_of(use));
  slot.byte_offset += use.byte_offset;
  return slot;
}

SymInt memory_bytes(const IRGraph& graph, const Schedule& schedule, const MemoryKey& key) {
  if (key.first == BufferUse::Kind::kError) return sizeof(int64_t);
  if (key.first == BufferUse::Kind::kScratch) return schedule.scratch_bytes[static_cast<size_t>(key.second)];
  const TensorType& type = graph.type(key.second);
  const SymInt elements = numel(type.shape);
  return (elements < 1 ? SymInt(1) : elements) * static_cast<int64_t>(size_of(type.dtype));
}

std::vector<MemoryReuse> find_reuses(const IRGraph& graph, const Schedule& schedule) {
  // A buffer that is live in one step only is written in it, so no other can reuse its memory there.
  struct Ends {
    std::vector<MemoryKey> last;
    std::vector<MemoryKey> first;
  };
  std::vector<Ends> ends(schedule.steps.size());
  BufferTable table = fixed_buffers(graph, schedule);
  add_blocks(graph, schedule, table);
  for (const auto& [key, index] : table.indices) {
    const BufferTable::Block& block = table.blocks[index];
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

BufferTable buffers_of(const IRGraph& graph, const Schedule& schedule, std::span<const MemoryReuse> reuses,
                       std::span<const size_t> free_outputs) {
  BufferTable table = fixed_buffers(graph, schedule);
  add_blocks(graph, schedule, table);
  for (const auto& [from, to] : reuses) table.reuses.push_back({table.indices.at(from), table.indices.at(to)});
  add_regions(graph, schedule, free_outputs, table);
  return table;
}

SlotMap place_buffers(const BufferTable& buffers) {
  SlotMap map{.slots = buffers.fixed};
  for (const SymInt bytes : buffers.packed_bytes) map.packed_bytes.push_back(static_cast<size_t>(int64_t{bytes}));
  std::vector<ArenaBlock> blocks;
  for (const BufferTable::Block& block : buffers.blocks)
    blocks.push_back({.bytes = block.bytes, .first_step = block.first_step, .last_step = block.last_step});
  std::vector<FreeRegion> regions;
  for (const BufferTable::Region& region : buffers.regions)
    regions.push_back({region.bytes, region.first_step, region.last_step});
  map.arena_bytes = place_blocks(blocks, buffers.reuses, regions);
  for (const auto& [key, index] : buffers.indices) {
    const ArenaBlock& block = blocks[index];
    if (block.region < 0) {
      map.slots[key] = {Slot::Area::kArena, 0, block.offset};
    } else {
      const size_t output = buffers.regions[static_cast<size_t>(block.region)].output;
      map.slots[key] = {Slot::Area::kOutput, static_cast<int32_t>(output), block.offset};
    }
  }
  return map;
}

}  // namespace lucid
