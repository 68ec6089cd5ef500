#include "schedule/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace lucid {
namespace {

KernelStage stage_of(const loop::Kernel& kernel, std::span<const uint32_t> buffers) {
  KernelStage stage{kernel.name, {}, {}};
  const std::vector<loop::BufferAccess> accesses = loop::accesses_of(kernel);
  for (size_t i = 0; i < std::min(buffers.size(), accesses.size()); ++i) {
    if (accesses[i].is_read) stage.reads.push_back(buffers[i]);
    if (accesses[i].is_written) stage.writes.push_back(buffers[i]);
  }
  return stage;
}

KernelStage host_stage(const IRNode& node, size_t buffers) {
  KernelStage stage{node.op->name(), {}, {}};
  const size_t results = node.outputs.size();
  for (uint32_t i = 0; i < buffers; ++i) (i + results < buffers ? stage.reads : stage.writes).push_back(i);
  return stage;
}

std::string names_of(std::span<const uint32_t> indices, const std::vector<BufferUse>& buffers) {
  std::vector<std::string> names;
  for (uint32_t index : indices)
    names.push_back(index < buffers.size() ? name_of(buffers[index]) : fmt::format("local{}", index - buffers.size()));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<KernelStage> stages_of(const IRGraph& graph, const KernelStep& step) {
  if (step.host) return {host_stage(graph.nodes[*step.host], step.buffers.size())};
  std::vector<KernelStage> stages;
  for (const loop::Call& call : step.kernel->calls)
    stages.push_back(stage_of(step.kernel->parts[call.part], call.buffers));
  if (!stages.empty()) return stages;
  std::vector<uint32_t> own(step.buffers.size());
  std::iota(own.begin(), own.end(), 0u);
  return {stage_of(*step.kernel, own)};
}

std::string name_of(const MemoryKey& key) { return name_of(BufferUse{.kind = key.first, .index = key.second}); }

std::string name_of(const BufferUse& use) {
  std::string name = use.kind == BufferUse::Kind::kValue     ? fmt::format("%{}", use.index)
                     : use.kind == BufferUse::Kind::kScratch ? fmt::format("scratch{}", use.index)
                                                             : std::string("checks");
  if (use.byte_offset != 0) name += fmt::format("+{}", use.byte_offset);
  return name;
}

std::string to_text(const IRGraph& graph, const Schedule& schedule) {
  std::string text;
  for (const KernelStep& step : schedule.steps) {
    const std::vector<KernelStage> stages = stages_of(graph, step);
    text += fmt::format("step {}", step.host ? stages.front().name : step.kernel->name);
    if (!step.host) text += fmt::format(", {} {}", step.items, step.items == 1 ? "item" : "items");
    if (step.packs) text += fmt::format(", packs %{}", *step.packs);
    text += '\n';
    const auto add = [&](const std::vector<BufferUse>& buffers) {
      for (const KernelStage& stage : stages)
        text += fmt::format("  {}: {} -> {}\n", stage.name, names_of(stage.reads, buffers),
                            names_of(stage.writes, buffers));
    };
    add(step.buffers);
    for (const Launch& launch : step.more_launches) {
      text += fmt::format("  fused launch, {} {}\n", launch.items, launch.items == 1 ? "item" : "items");
      add(launch.buffers);
    }
  }
  return text;
}

}  // namespace lucid
