#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/plan_pipeline.h"
#include "gpu_traits.h"

/// Drafts of plans from graphs in text form, without machine code.
namespace lucid::test {

/// A draft that no pass has run on. Its inputs are contiguous.
inline PlanDraft draft_of(const std::string& graph_text, std::vector<PlanUpdate> updates = {},
                          std::vector<size_t> fresh = {}, std::vector<ExpectedOutput> expected = {}) {
  const IRGraph graph = parse_graph(graph_text);
  std::map<ValueId, Geometry> inputs;
  for (ValueId id : graph.input_ids) {
    const Dims& shape = graph.type(id).shape;
    inputs[id] = {shape, contiguous_strides(shape), 0};
  }
  const bool is_on_gpu = device_of(graph).is_gpu();
  return {graph,
          inputs,
          {.updates = updates,
           .order = OutputOrder::kRowMajor,
           .fresh = fresh,
           .expected = expected,
           .target = is_on_gpu ? std::optional(kGpuTraits) : std::nullopt}};
}

/// The standard passes except those in `names`.
inline PlanPassList passes_without(const std::vector<std::string_view>& names) {
  PlanPassList passes = plan_passes(OutputMemory::kNew);
  std::erase_if(passes, [&](const PlanPass& pass) { return std::ranges::find(names, pass.name) != names.end(); });
  return passes;
}

}  // namespace lucid::test
