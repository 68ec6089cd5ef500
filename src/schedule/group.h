#pragma once

#include <map>
#include <set>
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

/// The groups that each node is computed in, named by their roots: itself alone if its result is stored.
std::vector<std::set<size_t>> homes_of(const IRGraph& graph);

/// Assigns the nodes of a graph of primitives to kernels. A pointwise or indexed node joins its consumers' group when
/// it has the root's iteration shape and nobody outside needs its result; a cheap pointwise one is computed again in a
/// second group rather than stored for it. Pointwise groups of one shape that read the same things become one kernel,
/// as long as nobody needs the result of the first before the second.
std::vector<Group> group_nodes(const IRGraph& graph);

}  // namespace lucid
