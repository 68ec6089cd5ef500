#pragma once

#include <map>
#include <span>
#include <vector>

#include "compiler/memory.h"
#include "ir/graph.h"
#include "runtime/plan.h"
#include "schedule/hazards.h"

namespace lucid {

/// A buffer that may begin where another one is, in the step that uses that one for the last time.
struct MemoryReuse {
  MemoryKey from;
  MemoryKey to;
};

/// Where each buffer of a schedule lies when the plan runs.
struct SlotMap {
  std::map<MemoryKey, Slot> slots;
  int64_t arena_bytes = 0;
  std::vector<size_t> packed_bytes;

  Slot slot(const BufferUse& use) const;
  /// The plan's input that the step packs; -1 if there is none, also when what is packed was computed by the plan.
  int32_t packed_input(const KernelStep& step) const;
};

/// Size in bytes of the memory of `key`. One element at least: kernels may be passed addresses of empty values.
int64_t memory_bytes(const IRGraph& graph, const Schedule& schedule, const MemoryKey& key);

/// The buffers that may begin where others end (ReuseMemory), in the order of the steps.
std::vector<MemoryReuse> find_reuses(const IRGraph& graph, const Schedule& schedule);

/// Gives every buffer its place. `free_outputs` are those whose memory nobody reads before they are written: other
/// buffers may lie there until then.
SlotMap place_buffers(const IRGraph& graph, const Schedule& schedule, std::span<const MemoryReuse> reuses,
                      std::span<const size_t> free_outputs);

}  // namespace lucid
