#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/compile_plan.h"
#include "compiler/slot_map.h"
#include "ir/evaluate.h"
#include "schedule/schedule.h"

namespace lucid {

/// A plan under construction, which the passes of plan_pipeline.h transform.
struct PlanDraft {
  /// Takes the arguments of compile_plan().
  PlanDraft(const IRGraph& source, const std::map<ValueId, Geometry>& inputs, const PlanOptions& options);

  enum class Phase : uint8_t { kGraph, kLayouts, kSteps, kMemory };
  /// What the draft has: the graph alone, then also layouts, steps, and memory.
  Phase phase = Phase::kGraph;
  bool has(Phase wanted) const { return phase >= wanted; }

  /// Where the plan runs, and with which instructions if that is the CPU.
  Device device;
  CpuLevel level;
  TargetTraits target;
  /// A graph of primitives.
  IRGraph graph;
  std::map<ValueId, Geometry> inputs;
  /// For each output, its geometry in memory that the caller chose; or empty.
  std::vector<Geometry> destinations;
  std::vector<PlanUpdate> updates;
  OutputOrder order = OutputOrder::kAny;
  std::vector<ExpectedOutput> expected;
  /// Positions of inputs and outputs in host memory, if the plan runs on a gpu.
  std::vector<size_t> host_inputs;
  std::vector<size_t> host_outputs;
  /// Inputs that are replaced by updates.
  std::set<ValueId> changing;
  /// Inputs whose contents change before the next run. Their packed forms are not kept.
  std::set<ValueId> transient;

  /// Has layouts after AssignLayouts and steps after WriteKernels.
  Schedule schedule;
  /// Values in the caller's memory: inputs and outputs.
  std::set<ValueId> outside;
  /// Whether values may be stored in the memory of results that are not written yet.
  bool outputs_as_scratch = false;
  /// For each of `expected`, the step after which it is compared; in order.
  std::vector<size_t> checked_after;
  /// For each output, the input that donates its memory, or -1.
  std::vector<int32_t> donations;
  /// Values that may reuse each other's memory, in order of preference.
  std::vector<MemoryReuse> reuses;
  SlotMap slots;
};

/// The buffers of the steps. Must follow DonateBuffers and ReuseMemory.
BufferTable buffers_of(const PlanDraft& draft);

/// The draft with other sizes.
PlanDraft with_sizes(const PlanDraft& draft, const SizeReplacer& replace);

/// The steps, donations, reuses and slots, as far as they are known.
std::string schedule_text(const PlanDraft& draft);

/// The graph, then schedule_text().
std::string to_text(const PlanDraft& draft);

/// Verifies a draft. Throws InternalError with the step and the rule that it violates:
///  - a layout is within the memory of the value that owns it, and values that share memory are not live at the same
///    time;
///  - a step passes the buffers and params that its kernel has;
///  - everything that is read is an input or was written before, and every output is written;
///  - launches of one step do not depend on each other, and stages of one kernel depend only on their own tile;
///  - a packed form is computed from one input that does not change;
///  - buffers that are live at the same time do not overlap, in the arena, in the memory of results or in donated
///    inputs;
///  - no check can fail after the first write to a donated input, or to a result's memory that is used before the
///    result is written.
void verify(const PlanDraft& draft);

}  // namespace lucid
