#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/compile_plan.h"
#include "compiler/slot_map.h"
#include "schedule/schedule.h"

namespace lucid {

/// A plan on its way from a graph to machine code: what the passes of plan_pipeline.h work on.
struct PlanDraft {
  /// The arguments are those of compile_plan().
  PlanDraft(const IRGraph& source, const std::map<ValueId, Geometry>& inputs, std::span<const Geometry> destinations,
            std::span<const PlanUpdate> updates, OutputOrder order, std::span<const size_t> fresh);

  enum class Stage : uint8_t { kGraph, kLayouts, kSteps, kMemory };
  /// How far the draft is: the graph alone, then layouts, then steps, then memory for them.
  Stage stage = Stage::kGraph;
  bool has(Stage wanted) const { return stage >= wanted; }

  /// Of primitives.
  IRGraph graph;
  std::map<ValueId, Geometry> inputs;
  /// For each output how it is written to memory that the caller chose; or empty.
  std::vector<Geometry> destinations;
  std::vector<PlanUpdate> updates;
  OutputOrder order = OutputOrder::kAny;
  /// Inputs that updates replace.
  std::set<ValueId> changing;
  /// Inputs that have other contents at the next run: a packed form of one is not worth keeping.
  std::set<ValueId> passing;

  /// Layouts from AssignLayouts on, steps from WriteKernels on.
  Schedule schedule;
  /// Values whose memory the caller passes or takes.
  std::set<ValueId> outside;
  /// Whether values may lie in the memory of results that are not written yet.
  bool lends_results = false;
  /// For each output, the input whose memory it may be given, or -1.
  std::vector<int32_t> donations;
  /// Values that may begin where others end, by preference.
  std::vector<MemoryReuse> reuses;
  SlotMap slots;
};

/// The steps, donations, reuses and places, as far as there are any.
std::string schedule_text(const PlanDraft& draft);

/// The graph, then schedule_text().
std::string to_text(const PlanDraft& draft);

/// The checker of schedules. Throws InternalError naming the step and the rule that it breaks:
///  - a layout lies within the memory of the value that owns it, and values that share memory are not needed at the
///  same time;
///  - a step passes to its kernel what that asks for;
///  - whatever is read is an input or was written before, and every output is written;
///  - launches of one step do not depend on each other, nor stages of one kernel on other units than their own;
///  - a packed form is made of one input that stays as it is;
///  - buffers that are live at the same time do not overlap, in the arena, in the memory of results or in donated
///  inputs;
///  - no check can fail once the memory of a donated input, or of a result before it is written, has been written to.
void verify(const PlanDraft& draft);

}  // namespace lucid
