#pragma once

#include "ir/graph.h"
#include "runtime/plan.h"

namespace lucid {

/// The host function of a node as a step of a plan. It takes the node's operands that are values, then its results, all
/// contiguous.
PlanStep::HostFunction host_function(const IRGraph& graph, const IRNode& node);

}  // namespace lucid
