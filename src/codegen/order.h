#pragma once

#include <vector>

#include "loop/kernel.h"

namespace lucid::codegen {

/// Returns the instructions of a block in an order that hides latency (list scheduling). The instruction on the longest
/// dependency chain comes first. Other chains fill the latency of its result, as far as registers allow. The chain of
/// instructions of a vector's exponential or quotient exceeds the processor's out-of-order window. Stores, prefetches,
/// loops and branches keep their position.
std::vector<loop::Id> latency_order(const loop::Kernel& kernel, const loop::Block& block);

}  // namespace lucid::codegen
