#include "schedule/group.h"

#include <algorithm>
#include <set>
#include <utility>

namespace lucid {
namespace {

bool is_fusible(const IRNode& node) {
  return node.op->is_pointwise() || std::holds_alternative<IndexedLowering>(node.op->lowering);
}

// Computing a pointwise value twice costs less than storing and loading it, unless it is the result of a math function.
// An indexed node may read anywhere.
bool is_cheap(const IRNode& node) { return node.op->is_pointwise() && !node.op->is_costly(); }
constexpr size_t kMaxConsumerGroups = 2;

// Whether a node can read an operand from registers. Indexed nodes read theirs at any index, so their operands must be
// in memory.
bool takes_registers(const IRNode& node) {
  return node.op->is_pointwise() || std::holds_alternative<ReduceLowering>(node.op->lowering);
}

// The iteration shape of a group with root `node`, or null if producers cannot join it.
const Dims* iteration_shape(const IRGraph& graph, const IRNode& node) {
  if (node.op->is_pointwise()) return &graph.type(node.outputs[0]).shape;
  if (std::holds_alternative<ReduceLowering>(node.op->lowering)) return &graph.type(node.inputs[0].id).shape;
  return nullptr;
}

constexpr size_t kMaxRoots = 8;

/// Joins pointwise groups of one shape. What both read is then loaded once, and what one computes stays in registers
/// for the other.
class Merger {
 public:
  Merger(const IRGraph& graph, std::vector<Group> groups) : graph_(graph), groups_(std::move(groups)) {
    for (const Group& group : groups_) {
      eligible_.push_back(is_eligible(group));
      reads_.push_back(reads_of(group));
    }
  }

  std::vector<Group> merge() {
    for (size_t later = 1; later < groups_.size(); ++later) {
      if (!eligible_[later]) continue;
      for (size_t earlier = later; earlier-- > 0;)
        if (eligible_[earlier] && can_join(earlier, later)) join(earlier, later);
    }
    std::erase_if(groups_, [](const Group& group) { return group.nodes.empty(); });
    return std::move(groups_);
  }

 private:
  bool is_eligible(const Group& group) const {
    return std::all_of(group.nodes.begin(), group.nodes.end(), [&](size_t node) {
      return graph_.nodes[node].op->is_pointwise() && graph_.nodes[node].op->errors.empty();
    });
  }

  std::set<ValueId> reads_of(const Group& group) const {
    std::set<ValueId> computed;
    std::set<ValueId> reads;
    for (size_t node : group.nodes) {
      for (const IROperand& input : graph_.nodes[node].inputs)
        if (input.id >= 0 && !computed.contains(input.id)) reads.insert(input.id);
      computed.insert(graph_.nodes[node].outputs[0]);
    }
    return reads;
  }

  const Dims& shape_of(const Group& group) const { return graph_.type(result_of(group.root())).shape; }
  ValueId result_of(size_t node) const { return graph_.nodes[node].outputs[0]; }

  bool reads_result(size_t reader, size_t producer) const {
    const std::vector<size_t>& roots = groups_[producer].roots;
    return std::any_of(roots.begin(), roots.end(),
                       [&](size_t root) { return reads_[reader].contains(result_of(root)); });
  }

  bool can_join(size_t earlier, size_t later) const {
    const Group& first = groups_[earlier];
    const Group& second = groups_[later];
    if (first.roots.size() + second.roots.size() > kMaxRoots || shape_of(first) != shape_of(second)) return false;
    const bool related = numel(shape_of(first)) == 1 || reads_result(later, earlier) ||
                         std::any_of(reads_[earlier].begin(), reads_[earlier].end(), [&](ValueId id) {
                           return reads_[later].contains(id) && graph_.type(id).shape == shape_of(first);
                         });
    if (!related) return false;
    for (size_t between = earlier + 1; between < later; ++between)
      if (reads_result(between, earlier)) return false;
    return true;
  }

  void join(size_t earlier, size_t later) {
    Group& first = groups_[earlier];
    Group& second = groups_[later];
    for (auto [from, to] : {std::pair(&first.nodes, &second.nodes), std::pair(&first.roots, &second.roots)}) {
      to->insert(to->end(), from->begin(), from->end());
      std::sort(to->begin(), to->end());
      to->erase(std::unique(to->begin(), to->end()), to->end());
      from->clear();
    }
    reads_[later] = reads_of(second);
    reads_[earlier].clear();
    eligible_[earlier] = false;
  }

  const IRGraph& graph_;
  std::vector<Group> groups_;
  std::vector<bool> eligible_;
  std::vector<std::set<ValueId>> reads_;  // values that a group loads from memory
};

}  // namespace

std::vector<std::set<size_t>> consumer_groups_of(const IRGraph& graph) {
  const size_t count = graph.nodes.size();
  std::map<ValueId, std::set<size_t>> consumers;
  for (size_t i = 0; i < count; ++i)
    for (const IROperand& input : graph.nodes[i].inputs)
      if (input.id >= 0) consumers[input.id].insert(i);
  std::set<ValueId> stored(graph.output_ids.begin(), graph.output_ids.end());
  for (const auto& [state, value] : graph.updates) stored.insert(value);

  std::vector<std::set<size_t>> consumer_groups(count);
  for (size_t i = count; i-- > 0;) {
    consumer_groups[i] = {i};
    const IRNode& node = graph.nodes[i];
    if (!is_fusible(node) || stored.contains(node.outputs[0])) continue;
    const auto users = consumers.find(node.outputs[0]);
    if (users == consumers.end()) continue;
    std::set<size_t> roots;
    for (size_t user : users->second) roots.insert(consumer_groups[user].begin(), consumer_groups[user].end());
    const bool joins = std::all_of(users->second.begin(), users->second.end(),
                                   [&](size_t user) { return takes_registers(graph.nodes[user]); }) &&
                       roots.size() <= (is_cheap(node) ? kMaxConsumerGroups : 1) &&
                       std::all_of(roots.begin(), roots.end(), [&](size_t root) {
                         const Dims* shape = iteration_shape(graph, graph.nodes[root]);
                         return shape && *shape == graph.type(node.outputs[0]).shape;
                       });
    if (joins) consumer_groups[i] = std::move(roots);
  }
  return consumer_groups;
}

std::vector<Group> group_nodes(const IRGraph& graph) {
  const std::vector<std::set<size_t>> consumer_groups = consumer_groups_of(graph);
  std::map<size_t, Group> groups;
  for (size_t i = 0; i < consumer_groups.size(); ++i)
    for (size_t root : consumer_groups[i]) groups[root].nodes.push_back(i);
  std::vector<Group> result;
  result.reserve(groups.size());
  for (auto& [root, group] : groups) {
    group.roots = {root};
    result.push_back(std::move(group));
  }
  return Merger(graph, std::move(result)).merge();
}

}  // namespace lucid
