#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "runtime/arena.h"
#include "runtime/plan.h"
#include "schedule/hazards.h"

namespace lucid {

/// A buffer, `to`, that may reuse the memory of `from` in the last step that uses `from`.
struct MemoryReuse {
  MemoryKey from;
  MemoryKey to;
};

/// The buffers of a schedule before they have an address. Sizes may be traced.
struct BufferTable {
  /// A buffer that shares the arena with others. It is live from one step to another, both included.
  struct Block {
    SymInt bytes;
    size_t first_step = 0;
    size_t last_step = 0;
  };
  /// The memory of an output that is free from one step to another, both included.
  struct Region {
    size_t output = 0;
    SymInt bytes;
    size_t first_step = 0;
    size_t last_step = 0;
  };

  /// Buffers in the caller's memory, packed forms and the error word.
  std::map<MemoryKey, Slot> fixed;
  std::vector<SymInt> packed_bytes;
  /// The other buffers, by their index in `blocks`.
  std::map<MemoryKey, size_t> indices;
  std::vector<Block> blocks;
  std::vector<BlockReuse> reuses;
  std::vector<Region> regions;

  /// The plan's input that the step packs, if any. A value that the plan itself computes does not count.
  std::optional<uint32_t> packed_input(const KernelStep& step) const;
};

/// The location of each buffer of a schedule.
struct SlotMap {
  std::map<MemoryKey, Slot> slots;
  int64_t arena_bytes = 0;
  std::vector<size_t> packed_bytes;

  Slot slot(const BufferUse& use) const;
  std::optional<uint32_t> packed_input(const KernelStep& step) const;
};

/// Size in bytes of the memory of `key`. At least one element: kernels may be passed addresses of empty values.
SymInt memory_bytes(const IRGraph& graph, const Schedule& schedule, const MemoryKey& key);

/// The buffers that may reuse the memory of others (ReuseMemory), in the order of the steps.
std::vector<MemoryReuse> find_reuses(const IRGraph& graph, const Schedule& schedule);

/// `free_outputs` are outputs whose memory is not read before they are written: other buffers may be placed there until
/// then.
BufferTable buffers_of(const IRGraph& graph, const Schedule& schedule, std::span<const MemoryReuse> reuses,
                       std::span<const size_t> free_outputs);

/// Assigns a slot to every buffer.
SlotMap place_buffers(const BufferTable& buffers);

}  // namespace lucid
