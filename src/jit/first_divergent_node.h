#pragma once

#include <optional>
#include <span>

#include "jit/call_plan.h"

namespace lucid::jit {

/// The first of `count` elements that has other bits, or -1. All NaNs are the same: passes need not keep their bits.
int64_t first_difference(Dtype dtype, Device device, const void* a, const void* b, int64_t count);

/// Finds the first node of a graph, before the passes, that is compiled wrong: a plan of the nodes up to it gives other
/// bits than one plan per node. `passes` are those of the call, or null for the standard ones; `inputs` are the
/// addresses of the inputs that are not constants. Empty if there is none.
std::optional<size_t> find_first_divergent_node(const CallGraph& call, const PassList* passes,
                                                std::span<void* const> inputs);

}  // namespace lucid::jit
