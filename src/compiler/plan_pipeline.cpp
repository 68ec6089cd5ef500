#include "compiler/plan_pipeline.h"

#include <algorithm>

#include "base/options.h"
#include "passes/common_subexpression.h"
#include "passes/empty_work.h"
#include "passes/graph_edit.h"
#include "schedule/buffer_reuse.h"

namespace lucid {
namespace {

using Phase = PlanDraft::Phase;

bool common_subexpression(PlanDraft& draft) {
  ConstantPool unknown;
  return CommonSubexpressionPass().run(draft.graph, unknown);
}

/// A plan's outputs own their memory. An output is copied if it would be part of another value, the same as another
/// output, or in a different element order than requested.
void own_outputs(IRGraph& graph, std::map<ValueId, Layout>& layouts, OutputOrder order) {
  std::set<ValueId> owned;
  for (const auto* ids : {&graph.input_ids, &graph.param_ids, &graph.state_ids, &graph.constant_ids})
    owned.insert(ids->begin(), ids->end());
  for (ValueId& id : graph.output_ids) {
    const Layout& layout = layouts.at(id);
    const Geometry& geometry = layout.geometry;
    const bool in_order = order == OutputOrder::kAny ? is_dense(geometry.sizes, geometry.strides)
                                                     : is_contiguous(geometry.sizes, geometry.strides);
    const bool whole =
        in_order && geometry.offset == 0 && numel(geometry.sizes) == numel(graph.type(layout.storage).shape);
    if (whole && owned.insert(layout.storage).second) continue;
    const TensorType type = graph.type(id);
    const Op& copy = op_table().at("contiguous");
    const ValueId copied = graph.add_value(type);
    graph.nodes.push_back({&copy, {{id, std::nullopt}}, copy.schema.default_attributes(), {copied}, false, ""});
    layouts[copied] = {copied, {type.shape, contiguous_strides(type.shape), 0}};
    owned.insert(copied);
    id = copied;
  }
}

bool assign_layouts(PlanDraft& draft) {
  std::map<ValueId, Geometry> imposed;
  for (size_t i = 0; i < draft.destinations.size(); ++i) imposed[draft.graph.output_ids.at(i)] = draft.destinations[i];
  draft.schedule.layouts = assign_layouts(draft.graph, draft.inputs, imposed);
  if (draft.destinations.empty()) own_outputs(draft.graph, draft.schedule.layouts, draft.order);
  draft.outside.insert(draft.graph.input_ids.begin(), draft.graph.input_ids.end());
  for (ValueId id : draft.graph.output_ids) draft.outside.insert(draft.schedule.layouts.at(id).storage);
  draft.donations.assign(draft.graph.output_ids.size(), -1);
  draft.phase = Phase::kLayouts;
  return true;
}

/// Layouts of values that are no longer computed are not used.
bool drop_empty_work(PlanDraft& draft) { return lucid::drop_empty_work(draft.graph); }

bool rematerialize(PlanDraft& draft) {
  return lucid::rematerialize(draft.graph, draft.schedule.layouts, draft.changing);
}

bool place_in_results(PlanDraft& draft) {
  draft.outputs_as_scratch = true;
  return place_in_results(draft.graph, draft.schedule.layouts);
}

bool write_kernels(PlanDraft& draft) {
  draft.schedule = schedule_graph(draft.graph, std::move(draft.schedule.layouts), draft.target);
  for (KernelStep& step : draft.schedule.steps)
    if (step.packs && draft.transient.contains(*step.packs)) step.packs.reset();
  number_stages(draft.schedule);
  draft.phase = Phase::kSteps;
  return true;
}

bool fuse_steps(PlanDraft& draft) { return fuse_steps(draft.schedule, draft.outside); }

bool narrow_indices(PlanDraft& draft) { return narrow_indices(draft.schedule); }

bool horizontal_fusion(PlanDraft& draft) { return fuse_horizontally(draft.schedule, draft.outside); }

/// Each output is compared once it and all that are compared before it are complete.
bool place_checks(PlanDraft& draft) {
  size_t last = 0;
  for (const ExpectedOutput& expected : draft.expected) {
    const ValueId id = draft.graph.output_ids[expected.output];
    const MemoryKey memory{BufferUse::Kind::kValue, draft.schedule.layouts.at(id).storage};
    for (size_t step = last; step < draft.schedule.steps.size(); ++step)
      for_each_use(draft.schedule.steps[step], [&](const BufferUse& use) {
        if (key_of(use) == memory) last = step;
      });
    draft.checked_after.push_back(last);
    draft.schedule.steps[last].is_checked = true;
  }
  return !draft.expected.empty();
}

bool donate_buffers(PlanDraft& draft) {
  bool changed = false;
  for (const PlanUpdate& update : draft.updates) {
    const ValueId input = draft.graph.input_ids[update.input];
    const ValueId output = draft.graph.output_ids[update.output];
    if (!may_donate(draft.schedule, input, output) || !is_written_safely(draft.schedule, output)) continue;
    draft.donations[update.output] = static_cast<int32_t>(update.input);
    changed = true;
  }
  return changed;
}

bool reuse_memory(PlanDraft& draft) {
  draft.reuses = find_reuses(draft.graph, draft.schedule);
  return !draft.reuses.empty();
}

bool place_memory(PlanDraft& draft) {
  draft.slots = place_buffers(buffers_of(draft));
  draft.phase = Phase::kMemory;
  return true;
}

class DraftSubject : public PassSubject {
 public:
  explicit DraftSubject(const PlanDraft& draft) : draft_(draft), effects_(effects_of(draft.graph)) {}
  std::string_view name() const override { return draft_.graph.name; }
  size_t size() const override {
    return draft_.has(Phase::kSteps) ? draft_.schedule.steps.size() : draft_.graph.nodes.size();
  }
  std::string_view counted() const override { return draft_.has(Phase::kSteps) ? "steps" : "nodes"; }
  std::string text() const override { return to_text(draft_); }
  void verify() const override {
    const SizeTrace::Pause unguarded;
    lucid::verify(draft_);
    LUCID_CHECK(effects_of(draft_.graph) == effects_ && (!draft_.has(Phase::kSteps) || effects_of_steps() == effects_),
                "{}: nodes with effects were added, removed or reordered", name());
  }

 private:
  std::vector<ValueId> effects_of_steps() const {
    IRGraph steps;
    for (const KernelStep& step : draft_.schedule.steps)
      if (step.host) steps.nodes.push_back(draft_.graph.nodes[*step.host]);
    return effects_of(steps);
  }

  const PlanDraft& draft_;
  const std::vector<ValueId> effects_;
};

}  // namespace

PlanPassList plan_passes(OutputMemory memory, const TargetTraits& target) {
  constexpr bool kRequired = true;
  const bool is_new = memory == OutputMemory::kNew;
  PlanPassList passes;
  // Composites may have common parts: a standard deviation computes the mean, which the graph may also contain.
  passes.push_back({"CommonSubexpressionPass", common_subexpression});
  passes.push_back({"AssignLayouts", assign_layouts, kRequired});
  // After layouts are assigned: the strides of results follow those of operands, which this pass drops.
  passes.push_back({"DropEmptyWork", drop_empty_work, kRequired});
  if (is_new) {
    // Before kernels are written, so that rematerialized values are fused into their consumers.
    passes.push_back({kRematerialize, rematerialize});
    // Only for results in new memory: the caller's may hold other values. After rematerialization, which changes the
    // last uses of values.
    passes.push_back({kPlaceInResults, place_in_results});
  }
  passes.push_back({"WriteKernels", write_kernels, kRequired});
  if (is_new) {
    // These reorder steps, so values must alias only through their layouts. Fused steps work through the cache of a
    // core.
    if (target.has_core_cache) passes.push_back({kFuseSteps, fuse_steps});
    // After FuseSteps, which saves more: memory traffic, not just launches.
    passes.push_back({kHorizontalFusion, horizontal_fusion});
  }
  // After horizontal fusion, which compares the kernels of steps with different sizes.
  if (target.index_bits == 32) passes.push_back({kNarrowIndices, narrow_indices});
  // The order of steps is final. The remaining passes assign memory.
  constexpr bool kAssignsMemory = true;
  passes.push_back({"PlaceChecks", place_checks, kRequired, kAssignsMemory});
  passes.push_back({kDonateBuffers, donate_buffers, !kRequired, kAssignsMemory});
  passes.push_back({kReuseMemory, reuse_memory, !kRequired, kAssignsMemory});
  passes.push_back({"PlaceMemory", place_memory, kRequired, kAssignsMemory});
  return passes;
}

PassReport run_plan_passes(PlanDraft& draft, std::span<const PlanPass> passes) {
  const Options process = options();
  const DraftSubject subject(draft);
  PassRunner runner(subject, parse_pass_names(process.disable_passes), process.verify_passes);
  for (const PlanPass& pass : passes) {
    const auto run = [&] { return pass.run(draft); };
    pass.is_required ? runner.run_required(pass.name, run) : runner.run(pass.name, run);
  }
  return std::move(runner.report());
}

}  // namespace lucid
