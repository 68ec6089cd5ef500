#pragma once

#include <cstdint>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid {

/// Seeds the generator that random ops use when they are given none.
void manual_seed(uint64_t seed);
/// The state of that generator: seed and offset, i64[2].
Tensor get_rng_state();
void set_rng_state(const Tensor& state);

}  // namespace lucid
#pragma GCC visibility pop
