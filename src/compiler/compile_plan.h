#pragma once

#include <map>
#include <span>

#include "base/ref.h"
#include "ir/graph.h"
#include "passes/pass_list.h"
#include "runtime/plan.h"

namespace lucid {

/// Rewrites composites into primitives, recursively, and makes every conversion explicit. Composites on 16-bit floats
/// compute in f32 and round once.
IRGraph expand_to_primitives(const IRGraph& graph);

/// An input of a plan, and the output that is its new value.
struct PlanUpdate {
  size_t input = 0;
  size_t output = 0;
};

/// How a plan's outputs may lie in memory.
enum class OutputOrder : uint8_t {
  kAny,       // as eager results do
  kRowMajor,  // elements in the order of the dimensions
};

/// Compiles a graph for inputs with these strides: expansion, grouping, loops, machine code. The plan's inputs are the
/// graph's input_ids in order, its outputs the output_ids. With `destinations`, one for each of the graph's outputs,
/// which pointwise nodes compute, those are written with these strides. `updates` are inputs and the outputs that take
/// their place afterwards: Plan::overwrites will say which of them may lie in the same memory. `fresh` are inputs that
/// have other contents at each run: what is made of them is not worth keeping. What the passes of plan_pipeline.h did
/// is added to `report`.
Ref<Plan> compile_plan(const IRGraph& graph, const std::map<ValueId, Geometry>& inputs,
                       std::span<const Geometry> destinations = {}, std::span<const PlanUpdate> updates = {},
                       OutputOrder order = OutputOrder::kAny, std::span<const size_t> fresh = {},
                       PassReport* report = nullptr);

}  // namespace lucid
