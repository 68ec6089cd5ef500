#include "passes/empty_work.h"

#include <algorithm>

#include "passes/graph_edit.h"
#include "passes/may_raise.h"

namespace lucid {
namespace {

/// Sizes of 0 are never traced.
bool is_empty(const TensorType& type) {
  return std::ranges::any_of(type.shape, [](const SymInt& size) { return size.unguarded() == 0; });
}

bool must_run(const IRGraph& graph, const IRNode& node) {
  return node.op->has_effects() || may_raise(NodeCall(graph, node).call());
}

}  // namespace

bool drop_empty_work(IRGraph& graph) {
  static const Op& full = op_table().at("full");
  bool changed = false;
  for (IRNode& node : graph.nodes) {
    if (!node.op->is_lowered() || node.op == &full || node.outputs.size() != 1) continue;
    const TensorType& type = graph.type(node.outputs.front());
    if (!is_empty(type) || must_run(graph, node)) continue;
    node.op = &full;
    node.inputs = {{-1, Scalar(int64_t{0})}};
    node.attributes = {type.shape, type.dtype};
    changed = true;
  }
  if (!changed) return false;
  std::set<ValueId> live = results_of(graph);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const IRNode& node = graph.nodes[i];
    if (std::ranges::none_of(node.outputs, [&](ValueId id) { return live.contains(id); }) && !must_run(graph, node)) {
      graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    for (const IROperand& input : node.inputs)
      if (input.id >= 0) live.insert(input.id);
  }
  ConstantPool unknown;
  drop_undefined(graph, unknown);
  return true;
}

}  // namespace lucid
