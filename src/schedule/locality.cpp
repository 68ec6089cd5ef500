#include <algorithm>
#include <set>

#include "schedule/group.h"
#include "schedule/schedule.h"

// Makes consecutive steps work on memory that is still in the cache.
namespace lucid {
namespace {

using Readers = std::map<ValueId, std::set<size_t>>;

/// The groups that read each stored value. Values that exist only in registers have none.
Readers readers_of(const IRGraph& graph, const std::vector<Group>& groups) {
  Readers readers;
  for (size_t g = 0; g < groups.size(); ++g) {
    std::set<ValueId> computed;
    for (size_t node : groups[g].nodes) {
      for (const IROperand& input : graph.nodes[node].inputs)
        if (input.id >= 0 && !computed.contains(input.id)) readers[input.id].insert(g);
      computed.insert(graph.nodes[node].outputs.begin(), graph.nodes[node].outputs.end());
    }
  }
  return readers;
}

bool is_pointwise(const IRGraph& graph, const Group& group) {
  return std::all_of(group.nodes.begin(), group.nodes.end(),
                     [&](size_t node) { return graph.nodes[node].op->is_pointwise(); });
}

}  // namespace

bool place_in_results(const IRGraph& graph, std::map<ValueId, Layout>& layouts) {
  const std::vector<Group> groups = group_nodes(graph);
  const Readers readers = readers_of(graph, groups);
  std::map<ValueId, int> owned;  // number of values stored in each value's memory
  for (const auto& [_, layout] : layouts) ++owned[layout.storage];
  const std::set<ValueId> outputs(graph.output_ids.begin(), graph.output_ids.end());
  std::set<ValueId> stored = outputs;
  for (const auto& [_, value] : graph.updates) stored.insert(value);
  bool changed = false;
  for (size_t g = 0; g < groups.size(); ++g) {
    const ValueId result = graph.nodes[groups[g].root()].outputs[0];
    if (!outputs.contains(result) || !is_pointwise(graph, groups[g])) continue;
    for (size_t producer = 0; producer < g; ++producer) {
      const IRNode& node = graph.nodes[groups[producer].root()];
      const ValueId value = node.outputs[0];
      const auto found = readers.find(value);
      const bool ends_here = found != readers.end() && *found->second.rbegin() == g && !stored.contains(value);
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
