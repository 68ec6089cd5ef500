#pragma once

#include <map>
#include <vector>

#include "ir/graph.h"
#include "schedule/schedule.h"

namespace lucid {

/// Nodes that become one kernel: a root, whose results are stored, and pointwise or indexed nodes before it whose
/// results exist only in registers. Nodes are indices into the graph, ascending, the root last.
struct Group {
  std::vector<size_t> nodes;
  size_t root() const { return nodes.back(); }
};

/// Assigns the nodes of a graph of primitives to kernels. A pointwise or indexed node joins its consumers' group when
/// it has the root's iteration shape and nobody outside needs its result; a cheap pointwise one is computed again in a
/// second group rather than stored for it.
std::vector<Group> group_nodes(const IRGraph& graph);

}  // namespace lucid
