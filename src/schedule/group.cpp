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
// The time to compile a kernel grows faster than its size. Identical kernels are compiled once, so that a long chain of
// ops is better cut into several.
constexpr size_t kMaxNodes = 64;
// How many earlier groups that read the same value are candidates for joining a group.
constexpr size_t kMaxCandidates = 256;

/// Joins pointwise groups of one shape. What both read is then loaded once, and what one computes stays in registers
/// for the other.
class Merger {
 public:
  Merger(const IRGraph& graph, std::vector<Group> groups) : graph_(graph), groups_(std::move(groups)) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      eligible_.push_back(is_eligible(groups_[i]));
      reads_.push_back(reads_of(groups_[i]));
      for (ValueId id : reads_[i]) readers_[id].insert(i);
      for (size_t root : groups_[i].roots) producers_[result_of(root)] = i;
    }
  }

  std::vector<Group> merge() {
    for (size_t later = 0; later < groups_.size(); ++later) {
      if (!eligible_[later]) continue;
      // In descending order. A join adds candidates before the one that was joined.
      std::set<size_t> candidates;
      add_candidates(later, later, candidates);
      while (!candidates.empty() && groups_[later].roots.size() < kMaxRoots) {
        const size_t earlier = *candidates.rbegin();
        candidates.erase(earlier);
        if (!can_join(earlier, later)) continue;
        join(earlier, later);
        add_candidates(later, earlier, candidates);
      }
      if (has_one_element(later)) single_.insert(later);
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
  bool has_one_element(size_t group) const { return numel(shape_of(groups_[group])) == 1; }

  /// Adds the groups before `end` that `group` may be related to: they compute what it reads, or read the same.
  void add_candidates(size_t group, size_t end, std::set<size_t>& candidates) const {
    const auto add_before_end = [&](const std::set<size_t>& groups) {
      size_t count = 0;
      for (auto it = groups.lower_bound(end); it != groups.begin() && count < kMaxCandidates; ++count)
        if (eligible_[*--it]) candidates.insert(*it);
    };
    for (ValueId id : reads_[group]) {
      if (const auto producer = producers_.find(id);
          producer != producers_.end() && producer->second < end && eligible_[producer->second])
        candidates.insert(producer->second);
      if (graph_.type(id).shape == shape_of(groups_[group])) add_before_end(readers_.at(id));
    }
    if (has_one_element(group)) add_before_end(single_);
  }

  bool reads_result(size_t reader, size_t producer) const {
    const std::vector<size_t>& roots = groups_[producer].roots;
    return std::any_of(roots.begin(), roots.end(),
                       [&](size_t root) { return reads_[reader].contains(result_of(root)); });
  }

  /// Whether a group between two others reads a result of the first.
  bool is_read_between(size_t earlier, size_t later) const {
    return std::ranges::any_of(groups_[earlier].roots, [&](size_t root) {
      const auto readers = readers_.find(result_of(root));
      if (readers == readers_.end()) return false;
      const auto next = readers->second.upper_bound(earlier);
      return next != readers->second.end() && *next < later;
    });
  }

  bool can_join(size_t earlier, size_t later) const {
    const Group& first = groups_[earlier];
    const Group& second = groups_[later];
    if (first.roots.size() + second.roots.size() > kMaxRoots || shape_of(first) != shape_of(second)) return false;
    if (first.nodes.size() + second.nodes.size() > kMaxNodes) return false;
    const bool related = has_one_element(earlier) || reads_result(later, earlier) ||
                         std::any_of(reads_[earlier].begin(), reads_[earlier].end(), [&](ValueId id) {
                           return reads_[later].contains(id) && graph_.type(id).shape == shape_of(first);
                         });
    return related && !is_read_between(earlier, later);
  }

  void join(size_t earlier, size_t later) {
    Group& first = groups_[earlier];
    Group& second = groups_[later];
    for (ValueId id : reads_[earlier]) readers_[id].erase(earlier);
    for (ValueId id : reads_[later]) readers_[id].erase(later);
    for (size_t root : first.roots) producers_[result_of(root)] = later;
    for (auto [from, to] : {std::pair(&first.nodes, &second.nodes), std::pair(&first.roots, &second.roots)}) {
      to->insert(to->end(), from->begin(), from->end());
      std::sort(to->begin(), to->end());
      to->erase(std::unique(to->begin(), to->end()), to->end());
      from->clear();
    }
    reads_[later] = reads_of(second);
    for (ValueId id : reads_[later]) readers_[id].insert(later);
    reads_[earlier].clear();
    eligible_[earlier] = false;
    single_.erase(earlier);
  }

  const IRGraph& graph_;
  std::vector<Group> groups_;
  std::vector<bool> eligible_;
  std::vector<std::set<ValueId>> reads_;  // values that a group loads from memory
  std::map<ValueId, std::set<size_t>> readers_;
  std::map<ValueId, size_t> producers_;
  std::set<size_t> single_;  // eligible groups before the current one whose shape has one element
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
  std::vector<size_t> sizes(count, 1);  // of the groups, by root
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
                         return shape && *shape == graph.type(node.outputs[0]).shape && sizes[root] < kMaxNodes;
                       });
    if (!joins) continue;
    for (size_t root : roots) ++sizes[root];
    consumer_groups[i] = std::move(roots);
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
