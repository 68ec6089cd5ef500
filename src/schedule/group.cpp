#include "schedule/group.h"

#include <algorithm>
#include <set>

namespace lucid {
namespace {

bool is_fusible(const IRNode& node) {
  return node.op->is_pointwise() || std::holds_alternative<IndexedLowering>(node.op->lowering);
}

// Computing a pointwise value again costs less than writing it out and reading it back, unless it is a math function's;
// an indexed one may read anywhere.
bool is_cheap(const IRNode& node) { return node.op->is_pointwise() && node.op->ulp == 0; }
constexpr size_t kMostHomes = 2;

// Whether a node can take an operand as it is computed. Indexed nodes read theirs at any index, so those must lie in
// memory.
bool takes_registers(const IRNode& node) {
  return node.op->is_pointwise() || std::holds_alternative<ReduceLowering>(node.op->lowering);
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

  // The groups that each node is computed in, named by their roots.
  std::vector<std::set<size_t>> homes(count);
  for (size_t i = count; i-- > 0;) {
    homes[i] = {i};
    const IRNode& node = graph.nodes[i];
    if (!is_fusible(node) || kept.contains(node.outputs[0])) continue;
    const auto users = consumers.find(node.outputs[0]);
    if (users == consumers.end()) continue;
    std::set<size_t> roots;
    for (size_t user : users->second) roots.insert(homes[user].begin(), homes[user].end());
    const bool joins = std::all_of(users->second.begin(), users->second.end(),
                                   [&](size_t user) { return takes_registers(graph.nodes[user]); }) &&
                       roots.size() <= (is_cheap(node) ? kMostHomes : 1) &&
                       std::all_of(roots.begin(), roots.end(), [&](size_t root) {
                         const Dims* shape = iteration_shape(graph, graph.nodes[root]);
                         return shape && *shape == graph.type(node.outputs[0]).shape;
                       });
    if (joins) homes[i] = std::move(roots);
  }

  std::map<size_t, Group> groups;
  for (size_t i = 0; i < count; ++i)
    for (size_t root : homes[i]) groups[root].nodes.push_back(i);
  std::vector<Group> result;
  result.reserve(groups.size());
  for (auto& [_, group] : groups) result.push_back(std::move(group));
  return result;
}

}  // namespace lucid
