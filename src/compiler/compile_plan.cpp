#include "compiler/compile_plan.h"

#include <algorithm>

#include "base/background.h"
#include "base/cancellation.h"
#include "base/out_of_memory.h"
#include "base/stack.h"
#include "compiler/barriers.h"
#include "compiler/host_step.h"
#include "compiler/plan_draft.h"
#include "compiler/plan_pipeline.h"
#include "runtime/kernel_cache.h"
#include "runtime/thread_pool.h"
#include "schedule/buffer_reuse.h"
#include "schedule/stages.h"

namespace lucid {
namespace {

/// The machine code of kernels: from the cache, or compiled, on all threads if a caller waits for it.
std::vector<Ref<LoadedCode>> codes_of(std::span<const loop::Kernel* const> kernels, Device device, CpuLevel target) {
  std::vector<Ref<LoadedCode>> codes(kernels.size());
  KernelCache& cache = kernel_cache(device);
  const std::atomic<bool>* cancelled = cancellation_flag();
  const auto get = [&](size_t i) {
    if (!kernels[i] || codes[i]) return;
    check_cancelled(cancelled);
    codes[i] = cache.get(*kernels[i], target);
  };
  const auto count = static_cast<int64_t>(codes.size());
  parallel_for(count, is_in_background() ? count : 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) has_memory_for([&] { get(i); });
  });
  // Retries on this thread: when memory is short, malloc may have a heap for it but none for the threads of the pool.
  for (size_t i = 0; i < codes.size(); ++i) get(i);
  return codes;
}

/// The machine code of each step that is a kernel.
std::vector<Ref<LoadedCode>> codes_of(const PlanDraft& draft) {
  std::vector<const loop::Kernel*> parts, kernels;
  for (const KernelStep& step : draft.schedule.steps) {
    kernels.push_back(step.kernel.get());
    if (!step.kernel) continue;
    for (const loop::Kernel& part : step.kernel->parts) parts.push_back(&part);
  }
  codes_of(parts, draft.device, draft.level);
  return codes_of(kernels, draft.device, draft.level);
}

PlanStep::Launch launch_of(const SlotMap& slots, const std::vector<BufferUse>& buffers,
                           const std::vector<SymInt>& params, SymInt items) {
  PlanStep::Launch launch{{}, {params.begin(), params.end()}, items};
  for (const BufferUse& use : buffers) launch.slots.push_back(slots.slot(use));
  return launch;
}

size_t bytes_of(const TensorType& type) { return static_cast<size_t>(numel(type.shape)) * size_of(type.dtype); }

/// An input or output in host memory.
Plan::HostBuffer host_buffer(size_t index, const Geometry& geometry, Dtype dtype) {
  const auto [first, last] = element_range(geometry);
  const auto size = static_cast<int64_t>(size_of(dtype));
  return {index, (first - geometry.offset) * size, static_cast<size_t>((last - first) * size)};
}

PlanStep step_of(const PlanDraft& draft, const KernelStep& step, Ref<LoadedCode> code) {
  PlanStep ready;
  if (step.host) {
    const IRNode& node = draft.graph.nodes[*step.host];
    ready.name = node.op->name();
    ready.host = host_function(draft.graph, node);
    for (const IROperand& operand : node.inputs)
      if (operand.id >= 0) ready.host_bytes.push_back(bytes_of(draft.graph.type(operand.id)));
    ready.host_operands = ready.host_bytes.size();
    for (const ValueId id : node.outputs) ready.host_bytes.push_back(bytes_of(draft.graph.type(id)));
  } else {
    ready.name = step.kernel->name;
    ready.code = std::move(code);
    for (KernelStage& stage : stages_of(draft.graph, step))
      ready.stages.push_back({std::move(stage.name), std::move(stage.reads), std::move(stage.writes)});
  }
  ready.launches.push_back(launch_of(draft.slots, step.buffers, step.params, step.items));
  for (const Launch& launch : step.more_launches)
    ready.launches.push_back(launch_of(draft.slots, launch.buffers, launch.params, launch.items));
  ready.is_copy = step.is_copy;
  ready.grain = grain_of(step);
  ready.nanoseconds = step.nanoseconds * static_cast<double>(ready.items());
  ready.packs = draft.slots.packed_input(step);
  return ready;
}

/// For each output, whether each input may share its memory.
std::vector<std::vector<bool>> in_place_inputs_of(const PlanDraft& draft) {
  std::vector<std::vector<bool>> in_place_inputs;
  for (ValueId output : draft.graph.output_ids) {
    std::vector<bool>& inputs = in_place_inputs.emplace_back();
    for (ValueId input : draft.graph.input_ids) inputs.push_back(may_donate(draft.schedule, input, output));
  }
  return in_place_inputs;
}

/// The plan that a finished draft describes, with the code of each step that is a kernel.
Ref<Plan> finish(const PlanDraft& draft, const std::vector<Ref<LoadedCode>>& codes) {
  auto plan = make_ref<Plan>();
  plan->device = draft.device;
  for (const size_t i : draft.host_inputs) {
    const ValueId id = draft.graph.input_ids[i];
    plan->host_inputs.push_back(host_buffer(i, draft.inputs.at(id), draft.graph.type(id).dtype));
  }
  for (const size_t i : draft.host_outputs) {
    const ValueId id = draft.graph.output_ids[i];
    plan->host_outputs.push_back(host_buffer(i, draft.schedule.layouts.at(id).geometry, draft.graph.type(id).dtype));
  }
  for (ValueId id : draft.graph.output_ids) {
    plan->outputs.push_back({draft.graph.type(id), draft.schedule.layouts.at(id).geometry.strides});
    plan->is_safe.push_back(is_written_safely(draft.schedule, id));
  }
  plan->donors = draft.donations;
  if (!draft.destinations.empty()) plan->in_place_inputs = in_place_inputs_of(draft);
  plan->arena_bytes = static_cast<size_t>(draft.slots.arena_bytes);
  plan->packed_bytes = draft.slots.packed_bytes;
  for (size_t i = 0; i < draft.schedule.steps.size(); ++i) {
    if (codes[i]) plan->scratch_bytes = std::max(plan->scratch_bytes, codes[i]->scratch_bytes());
    plan->steps.push_back(step_of(draft, draft.schedule.steps[i], codes[i]));
  }
  for (size_t i = 0; i < draft.expected.size(); ++i) {
    const auto& [output, expected] = draft.expected[i];
    plan->steps[draft.checked_after[i]].checks.push_back({output, expected});
  }
  plan->is_long = takes_long(*plan);
  if (plan->device.is_gpu()) {
    const std::vector<bool> barriers = barriers_of(draft);
    for (size_t i = 0; i < barriers.size(); ++i) plan->steps[i].needs_barrier = barriers[i];
    for (const size_t i : draft.host_outputs) plan->outputs[i].type.device = kCpuDevice;
  }
  plan->finish();
  return plan;
}

OutputMemory output_memory(const PlanOptions& options) {
  return options.destinations.empty() ? OutputMemory::kNew : OutputMemory::kCallers;
}

}  // namespace

std::vector<Geometry> output_geometries(const IRGraph& graph, const std::map<ValueId, Geometry>& inputs) {
  PlanDraft draft(graph, inputs, {});
  for (const PlanPass& pass : plan_passes(OutputMemory::kNew, draft.target)) {
    if (draft.has(PlanDraft::Phase::kLayouts)) break;
    pass.run(draft);
  }
  std::vector<Geometry> geometries;
  for (ValueId id : draft.graph.output_ids) geometries.push_back(draft.schedule.layouts.at(id).geometry);
  return geometries;
}

Ref<Plan> compile_plan(const IRGraph& source, const std::map<ValueId, Geometry>& inputs, const PlanOptions& options,
                       PassReport* report) {
  Ref<Plan> plan;
  with_large_stack([&] {
    PlanDraft draft(source, inputs, options);
    PassReport done = run_plan_passes(draft, plan_passes(output_memory(options), draft.target));
    if (report) std::move(done.runs.begin(), done.runs.end(), std::back_inserter(report->runs));
    plan = finish(draft, codes_of(draft));
  });
  return plan;
}

PlanTemplate::PlanTemplate(const IRGraph& graph, const std::map<ValueId, Geometry>& inputs, const PlanOptions& options,
                           const SizeTrace& recorded, std::span<const int64_t> sizes, PassReport* report)
    : trace_(recorded, sizes) {
  trace_.bucket_sizes();
  with_large_stack([&] {
    const SizeTrace::Scope scope(&trace_);
    auto draft = std::make_unique<PlanDraft>(graph, inputs, options);
    const PlanPassList passes = plan_passes(output_memory(options), draft->target);
    PassReport done =
        run_plan_passes(*draft, {passes.begin(), std::ranges::find_if(passes, &PlanPass::assigns_memory)});
    if (report) std::move(done.runs.begin(), done.runs.end(), std::back_inserter(report->runs));
    codes_ = codes_of(*draft);
    draft_ = std::move(draft);
  });
}

PlanTemplate::~PlanTemplate() = default;

Ref<Plan> PlanTemplate::plan_for(std::span<const int64_t> sizes) const {
  const std::optional<SizeTrace::Evaluation> evaluation = SizeTrace::Evaluation::of(trace_, sizes);
  if (!evaluation) return nullptr;
  PlanDraft draft = with_sizes(*draft_, SizeReplacer(*evaluation));
  const PlanPassList passes = plan_passes(output_memory({.destinations = draft.destinations}), draft.target);
  run_plan_passes(draft, {std::ranges::find_if(passes, &PlanPass::assigns_memory), passes.end()});
  return finish(draft, codes_);
}

}  // namespace lucid
