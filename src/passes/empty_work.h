#pragma once

#include "ir/graph.h"

namespace lucid {

/// Removes what tensors without elements are computed from: reducing a tensor of shape [2**40, 0] takes 2**40 steps of
/// nothing. Nodes that may raise are kept. The graph must consist of primitives. Returns whether anything changed.
bool drop_empty_work(IRGraph& graph);

}  // namespace lucid
