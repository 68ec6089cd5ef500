#pragma once

#include <map>
#include <set>
#include <vector>

#include "ir/graph.h"
#include "schedule/schedule.h"

namespace lucid {

/// Nodes that become one kernel: roots, whose results are stored, and the pointwise or indexed nodes before them, whose
/// results exist only in registers. Nodes are indices into the graph, ascending. Only pointwise kernels have more than
/// one root, all of the same shape; the last root is the last node.
struct Group {
  std::vector<size_t> nodes;
  std::vector<size_t> roots;
  size_t root() const { return roots.back(); }
};

/// For each node, the groups that compute it, named by their roots. A node whose result is stored is its own group.
std::vector<std::set<size_t>> consumer_groups_of(const IRGraph& graph);

/// Assigns the nodes of a graph of primitives to kernels. A pointwise or indexed node joins its consumers' group if it
/// has the root's iteration shape and its result is not needed outside the group. A cheap pointwise node is computed in
/// two groups rather than stored. Pointwise groups of one shape that share inputs become one kernel, unless a group
/// between them needs the results of the first.
std::vector<Group> group_nodes(const IRGraph& graph);

}  // namespace lucid
