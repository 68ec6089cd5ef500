#include "compiler/plan_draft.h"

#include <fmt/format.h>

#include "device/gpu.h"
#include "schedule/stages.h"

namespace lucid {
namespace {

std::string slot_text(const Slot& slot) {
  switch (slot.area) {
    case Slot::Area::kInput:
      return fmt::format("input{}", slot.index);
    case Slot::Area::kOutput:
      return fmt::format("output{}+{}", slot.index, slot.byte_offset);
    case Slot::Area::kArena:
      return fmt::format("arena+{}", slot.byte_offset);
    case Slot::Area::kPacked:
      return fmt::format("packed{}", slot.index);
    case Slot::Area::kError:
      break;
  }
  return "checks";
}

TargetTraits traits_of(Device device, CpuLevel level) {
  return device.is_gpu() ? Gpu::at(device.index()).traits() : cpu_traits(level);
}

}  // namespace

PlanDraft::PlanDraft(const IRGraph& source, const std::map<ValueId, Geometry>& inputs, const PlanOptions& options)
    : device(device_of(source)),
      level(options.level),
      target(options.target ? *options.target : traits_of(device, level)),
      graph(expand_to_primitives(source)),
      destinations(options.destinations.begin(), options.destinations.end()),
      updates(options.updates.begin(), options.updates.end()),
      order(options.order),
      expected(options.expected.begin(), options.expected.end()) {
  for (size_t i = 0; i < source.input_ids.size(); ++i)
    this->inputs[graph.input_ids[i]] = inputs.at(source.input_ids[i]);
  if (device.is_gpu()) {
    for (size_t i = 0; i < source.input_ids.size(); ++i)
      if (!source.type(source.input_ids[i]).device.is_gpu()) host_inputs.push_back(i);
    for (size_t i = 0; i < source.output_ids.size(); ++i)
      if (!source.type(source.output_ids[i]).device.is_gpu()) host_outputs.push_back(i);
  }
  for (const PlanUpdate& update : updates) changing.insert(graph.input_ids[update.input]);
  transient = changing;
  for (size_t input : options.fresh) transient.insert(graph.input_ids[input]);
}

BufferTable buffers_of(const PlanDraft& draft) {
  std::vector<size_t> free_outputs;
  for (size_t i = 0; i < draft.donations.size(); ++i)
    if (draft.outputs_as_scratch && draft.donations[i] < 0) free_outputs.push_back(i);
  return buffers_of(draft.graph, draft.schedule, draft.reuses, free_outputs);
}

PlanDraft with_sizes(const PlanDraft& draft, const SizeReplacer& replace) {
  PlanDraft result = draft;
  result.graph = replace(draft.graph);
  for (auto& [_, geometry] : result.inputs) geometry = replace(geometry);
  for (Geometry& geometry : result.destinations) geometry = replace(geometry);
  for (auto& [_, layout] : result.schedule.layouts) layout.geometry = replace(layout.geometry);
  for (SymInt& bytes : result.schedule.scratch_bytes) bytes = replace(bytes);
  const auto replace_in = [&](std::vector<BufferUse>& buffers, std::vector<SymInt>& params, SymInt& items) {
    for (BufferUse& use : buffers)
      for (SymInt* dim : {&use.byte_offset, &use.tile.stride, &use.tile.bytes, &use.tile.rows, &use.tile.pitch})
        *dim = replace(*dim);
    for (SymInt& param : params) param = replace(param);
    items = replace(items);
  };
  for (KernelStep& step : result.schedule.steps) {
    replace_in(step.buffers, step.params, step.items);
    step.tile_items = replace(step.tile_items);
    for (Launch& launch : step.more_launches) replace_in(launch.buffers, launch.params, launch.items);
  }
  return result;
}

std::string schedule_text(const PlanDraft& draft) {
  std::string text;
  if (!draft.has(PlanDraft::Phase::kLayouts)) return text;
  for (const IRNode& node : draft.graph.nodes)
    for (ValueId id : node.outputs)
      if (const auto found = draft.schedule.layouts.find(id);
          found != draft.schedule.layouts.end() && found->second.storage != id && !node.op->view)
        text += fmt::format("place %{} in %{}\n", id, found->second.storage);
  text += to_text(draft.graph, draft.schedule);
  for (size_t i = 0; i < draft.checked_after.size(); ++i)
    text += fmt::format("compare output{} after step {}\n", draft.expected[i].output, draft.checked_after[i]);
  for (size_t i = 0; i < draft.donations.size(); ++i)
    if (draft.donations[i] >= 0) text += fmt::format("donate input{} to output{}\n", draft.donations[i], i);
  for (const auto& [from, to] : draft.reuses) text += fmt::format("reuse {} for {}\n", name_of(from), name_of(to));
  if (!draft.has(PlanDraft::Phase::kMemory)) return text;
  text += fmt::format("arena of {} bytes\n", draft.slots.arena_bytes);
  for (const auto& [key, slot] : draft.slots.slots) {
    const bool is_callers = key.first == BufferUse::Kind::kValue && draft.outside.contains(key.second);
    if (is_callers || key.first == BufferUse::Kind::kError) continue;
    text += fmt::format("  {} at {}, {} bytes\n", name_of(key), slot_text(slot),
                        memory_bytes(draft.graph, draft.schedule, key));
  }
  return text;
}

std::string to_text(const PlanDraft& draft) { return to_text(draft.graph) + schedule_text(draft); }

}  // namespace lucid
