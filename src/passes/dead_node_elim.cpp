#include "passes/dead_node_elim.h"

#include <algorithm>

#include "passes/graph_edit.h"
#include "passes/may_raise.h"

namespace lucid {

bool DeadNodeElimPass::run(IRGraph& graph, ConstantPool& constants) {
  std::set<ValueId> live = results_of(graph);
  std::vector<bool> is_live(graph.nodes.size());
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const IRNode& node = graph.nodes[i];
    is_live[i] = std::ranges::any_of(node.outputs, [&](ValueId id) { return live.contains(id); }) ||
                 node.op->has_effects() || may_raise(NodeCall(graph, node).call());
    if (!is_live[i]) continue;
    for (const IROperand& input : node.inputs)
      if (input.id >= 0) live.insert(input.id);
  }
  size_t at = 0;
  bool changed = std::erase_if(graph.nodes, [&](const IRNode&) { return !is_live[at++]; }) > 0;
  changed |= std::erase_if(graph.constant_ids, [&](ValueId id) { return !live.contains(id); }) > 0;
  if (changed) drop_undefined(graph, constants);
  return changed;
}

}  // namespace lucid
