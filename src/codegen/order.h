#pragma once

#include <vector>

#include "loop/kernel.h"

namespace lucid::codegen {

/// The instructions of a block in an order that fills the machine: those of the longest chain first, and of other
/// chains while results are awaited, as far as registers go. A processor looks ahead only so far, and a vector's
/// exponential or quotient is a longer chain than that. Accesses to memory, loops and branches keep their order.
std::vector<loop::Id> latency_order(const loop::Kernel& kernel, const loop::Block& block);

}  // namespace lucid::codegen
