#pragma once

#include "ir/graph.h"

namespace lucid {

/// Whether a call whose types are valid can still raise when it runs: one of its kernels checks its operands, or it
/// runs on the host. For composites, examines the decomposition for these operands and attributes.
bool may_raise(const Call& call);

/// A node of a graph of primitives that may raise after the first ordered effect: the effect does not depend on it.
/// Null if there is none.
const IRNode* may_raise_after_effect(const IRGraph& graph);

}  // namespace lucid
