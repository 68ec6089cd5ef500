#include "schedule/group.h"

#include <algorithm>
#include <set>

namespace lucid {
namespace {

bool is_fusible(const IRNode& node) {
  return node.op->is_pointwise() || std::holds_alternative<IndexedLowering>(node.op->lowering);
}

// The shape that a group rooted at `node` iterates over, or nothing when producers cannot join it.
const Dims* iteration_shape(const IRGraph& graph, const IRNode& node) {
  if (node.op->is_pointwise()) return &graph.type(node.outputs[0]).shape;
  if (std::holds_alternative<ReduceLowering>(node.op->lowering)) return &graph.type(node.inputs[0].id).shape;
  return nullptr;
}

}  // namespace

std::vector<Group> group_nodes(const IRGraph& graph) {
  const size_t count = graph.nodes.size();
  std::map<ValueId, std::set<size_t>> consumers;
  for (size_t i = 0; i < count; ++i)
    for (const IROperand& input : graph.nodes[i].inputs)
      if (input.id >= 0) consumers[input.id].insert(i);
  std::set<ValueId> kept(graph.output_ids.begin(), graph.output_ids.end());
  for (const auto& [state, value] : graph.updates) kept.insert(value);

  std::vector<size_t> root(count);
  for (size_t i = count; i-- > 0;) {
    root[i] = i;
    const IRNode& node = graph.nodes[i];
    if (!is_fusible(node) || kept.contains(node.outputs[0])) continue;
    const auto users = consumers.find(node.outputs[0]);
    if (users == consumers.end()) continue;
    std::set<size_t> roots;
    bool joins = true;
    for (size_t user : users->second) {
      roots.insert(root[user]);
      // Indexed nodes read their operands at any index, so those must lie in memory.
      joins = joins && (graph.nodes[user].op->is_pointwise() || root[user] == user) &&
              !std::holds_alternative<IndexedLowering>(graph.nodes[user].op->lowering);
    }
    if (!joins || roots.size() != 1) continue;
    const Dims* shape = iteration_shape(graph, graph.nodes[*roots.begin()]);
    if (shape && *shape == graph.type(node.outputs[0]).shape) root[i] = *roots.begin();
  }

  std::map<size_t, Group> groups;
  for (size_t i = 0; i < count; ++i) groups[root[i]].nodes.push_back(i);
  std::vector<Group> result;
  result.reserve(groups.size());
  for (auto& [_, group] : groups) result.push_back(std::move(group));
  return result;
}

}  // namespace lucid
