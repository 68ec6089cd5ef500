#include <algorithm>

#include "base/stack.h"
#include "compiler/compile_plan.h"
#include "compiler/plan_draft.h"
#include "compiler/plan_pipeline.h"
#include "schedule/buffer_reuse.h"

namespace lucid {
namespace {

/// Writes a draft whose steps are final as a form. Sizes are traced in `trace`.
class FormWriter {
 public:
  FormWriter(const PlanDraft& draft, const SizeTrace& trace)
      : draft_(draft), trace_(trace), buffers_(buffers_of(draft)) {}

  PlanSource write() {
    PlanForm& form = source_.form;
    for (size_t i = 0; i < draft_.graph.output_ids.size(); ++i)
      form.outputs.push_back({draft_.donations[i], is_written_safely(draft_.schedule, draft_.graph.output_ids[i])});
    for (const BufferTable::Block& block : buffers_.blocks)
      form.blocks.push_back({formula(block.bytes), number(block.first_step), number(block.last_step)});
    form.reuses = buffers_.reuses;
    for (const BufferTable::Region& region : buffers_.regions)
      form.regions.push_back(
          {number(region.output), formula(region.bytes), number(region.first_step), number(region.last_step)});
    for (const SymInt bytes : buffers_.packed_bytes) form.packed_bytes.push_back(formula(bytes));
    for (const KernelStep& step : draft_.schedule.steps) add_step(step);
    for (size_t i = 0; i < draft_.expected.size(); ++i) {
      const auto& [output, expected] = draft_.expected[i];
      form.steps[draft_.checked_after[i]].checks.push_back({output, expected});
    }
    // Last: what was done with sizes until here may have added conditions.
    form.conditions = conditions_of(trace_);
    return std::move(source_);
  }

 private:
  SizeFormula formula(SymInt dim) const { return {trace_, dim}; }
  static uint32_t number(size_t value) { return static_cast<uint32_t>(value); }

  PlanForm::Place place_of(const BufferUse& use) const {
    const auto fixed = buffers_.fixed.find(key_of(use));
    if (fixed != buffers_.fixed.end())
      return {fixed->second.area, static_cast<uint32_t>(fixed->second.index), formula(use.byte_offset)};
    return {Slot::Area::kArena, number(buffers_.indices.at(key_of(use))), formula(use.byte_offset)};
  }

  PlanForm::Launch launch_of(std::span<const BufferUse> buffers, std::span<const SymInt> params, SymInt items) const {
    PlanForm::Launch launch{.items = formula(items)};
    for (const BufferUse& use : buffers) launch.places.push_back(place_of(use));
    for (const SymInt param : params) launch.params.push_back(formula(param));
    return launch;
  }

  void add_step(const KernelStep& step) {
    if (!step.kernel)
      throw ValueError("export: {} runs on the host, which exported programs cannot do",
                       draft_.graph.nodes[*step.host].op->name());
    PlanForm::Step& written = source_.form.steps.emplace_back();
    written.name = step.kernel->name;
    written.kernel = kernel_index(step.kernel);
    written.launches.push_back(launch_of(step.buffers, step.params, step.items));
    for (const Launch& launch : step.more_launches)
      written.launches.push_back(launch_of(launch.buffers, launch.params, launch.items));
    written.is_copy = step.is_copy;
    written.grain = grain_of(step);
    written.nanoseconds = step.nanoseconds;
    written.packs = buffers_.packed_input(step);
  }

  uint32_t kernel_index(const std::shared_ptr<const loop::Kernel>& kernel) {
    const auto found = std::ranges::find(source_.kernels, kernel);
    const auto index = number(static_cast<size_t>(found - source_.kernels.begin()));
    if (found == source_.kernels.end()) source_.kernels.push_back(kernel);
    return index;
  }

  const PlanDraft& draft_;
  const SizeTrace& trace_;
  const BufferTable buffers_;
  PlanSource source_;
};

}  // namespace

PlanSource compile_form(const IRGraph& graph, const std::map<ValueId, Geometry>& inputs, const PlanOptions& options,
                        const SizeTrace& recorded, std::span<const int64_t> sizes) {
  PlanSource source;
  with_large_stack([&] {
    SizeTrace trace(recorded, sizes);
    trace.bucket_sizes();
    const SizeTrace::Scope scope(&trace);
    PlanDraft draft(graph, inputs, options);
    PlanPassList passes = plan_passes(OutputMemory::kNew, draft.target);
    passes.pop_back();  // PlaceMemory: make_plan() does that
    run_plan_passes(draft, passes);
    source = FormWriter(draft, trace).write();
  });
  return source;
}

}  // namespace lucid
