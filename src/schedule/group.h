#pragma once

#include <map>
#include <vector>

#include "ir/graph.h"
#include "schedule/schedule.h"

namespace lucid {

/// Nodes that become one kernel: roots, whose results are stored, and pointwise or indexed nodes before them whose
/// results exist only in registers. Nodes are indices into the graph, ascending. Only pointwise kernels have more than
/// one root, all of one shape; the last root is the last node.
struct Group {
  std::vector<size_t> nodes;
  std::vector<size_t> roots;
  size_t root() const { return roots.back(); }
};

/// Assigns the nodes of a graph of primitives to kernels. A pointwise or indexed node joins its consumers' group when
/// it has the root's iteration shape and nobody outside needs its result; a pointwise one is computed again in a second
/// group rather than stored for it. Pointwise groups of one shape that read the same things become one kernel, as long
/// as nobody needs the result of the first before the second.
std::vector<Group> group_nodes(const IRGraph& graph);

}  // namespace lucid
