#pragma once

#include <map>
#include <span>
#include <vector>

#include "compiler/memory.h"
#include "ir/graph.h"
#include "runtime/plan.h"
#include "schedule/hazards.h"

namespace lucid {

/// A buffer, `to`, that may reuse the memory of `from` in the last step that uses `from`.
struct MemoryReuse {
  MemoryKey from;
  MemoryKey to;
};

/// The location of each buffer of a schedule.
struct SlotMap {
  std::map<MemoryKey, Slot> slots;
  int64_t arena_bytes = 0;
  std::vector<size_t> packed_bytes;

  Slot slot(const BufferUse& use) const;
  /// The plan's input that the step packs, or -1. A value that the plan itself computes does not count.
  int32_t packed_input(const KernelStep& step) const;
};

/// Size in bytes of the memory of `key`. At least one element: kernels may be passed addresses of empty values.
int64_t memory_bytes(const IRGraph& graph, const Schedule& schedule, const MemoryKey& key);

/// The buffers that may reuse the memory of others (ReuseMemory), in the order of the steps.
std::vector<MemoryReuse> find_reuses(const IRGraph& graph, const Schedule& schedule);

/// Assigns a slot to every buffer. `free_outputs` are outputs whose memory is not read before they are written: other
/// buffers may be placed there until then.
SlotMap place_buffers(const IRGraph& graph, const Schedule& schedule, std::span<const MemoryReuse> reuses,
                      std::span<const size_t> free_outputs);

}  // namespace lucid
