#include <algorithm>
#include <set>

#include "schedule/group.h"
#include "schedule/schedule.h"

// Makes consecutive steps work on memory that is still in the cache.
namespace lucid {
namespace {

/// The stored values that each group reads, and the last group that reads each. Values that exist only in registers are
/// not read.
struct Reads {
  std::vector<std::set<ValueId>> of;
  std::map<ValueId, size_t> last;
};

Reads reads_of(const IRGraph& graph, const std::vector<Group>& groups) {
  Reads reads;
  for (size_t g = 0; g < groups.size(); ++g) {
    std::set<ValueId>& of = reads.of.emplace_back();
    std::set<ValueId> computed;
    for (size_t node : groups[g].nodes) {
      for (const IROperand& input : graph.nodes[node].inputs)
        if (input.id >= 0 && !computed.contains(input.id)) of.insert(input.id);
      computed.insert(graph.nodes[node].outputs.begin(), graph.nodes[node].outputs.end());
    }
    for (ValueId id : of) reads.last[id] = g;
  }
  return reads;
}

bool is_pointwise(const IRGraph& graph, const Group& group) {
  return std::all_of(group.nodes.begin(), group.nodes.end(),
                     [&](size_t node) { return graph.nodes[node].op->is_pointwise(); });
}

}  // namespace

bool place_in_results(const IRGraph& graph, std::map<ValueId, Layout>& layouts) {
  const std::vector<Group> groups = group_nodes(graph);
  const Reads reads = reads_of(graph, groups);
  std::map<ValueId, size_t> producers;  // the group whose root computes each value
  for (size_t g = 0; g < groups.size(); ++g) producers[graph.nodes[groups[g].root()].outputs[0]] = g;
  std::map<ValueId, int> owned;  // number of values stored in each value's memory
  for (const auto& [_, layout] : layouts) ++owned[layout.storage];
  const std::set<ValueId> outputs(graph.output_ids.begin(), graph.output_ids.end());
  std::set<ValueId> stored = outputs;
  for (const auto& [_, value] : graph.updates) stored.insert(value);
  bool changed = false;
  for (size_t g = 0; g < groups.size(); ++g) {
    const ValueId result = graph.nodes[groups[g].root()].outputs[0];
    if (!outputs.contains(result) || !is_pointwise(graph, groups[g])) continue;
    // The earliest one first.
    std::map<size_t, ValueId> candidates;
    for (ValueId value : reads.of[g])
      if (const auto producer = producers.find(value); producer != producers.end() && producer->second < g)
        candidates[producer->second] = value;
    for (const auto& [producer, value] : candidates) {
      const IRNode& node = graph.nodes[groups[producer].root()];
      const bool ends_here = reads.last.at(value) == g && !stored.contains(value);
      if (!ends_here || node.outputs.size() != 1 || layouts.at(value).storage != value || owned[value] != 1) continue;
      if (layouts.at(value).geometry != layouts.at(result).geometry || graph.type(value) != graph.type(result))
        continue;
      layouts.at(value).storage = layouts.at(result).storage;
      changed = true;
      break;
    }
  }
  return changed;
}

}  // namespace lucid
