#pragma once

#include <cstdint>
#include <optional>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid {

/// Seeds the default generator, which all random ops use unless they are given another.
void manual_seed(uint64_t seed);
/// The state of the default generator: seed and offset, i64[2].
Tensor get_rng_state();
/// Restores a state returned by get_rng_state().
void set_rng_state(const Tensor& state);

// Random tensors. An element depends only on the seed, on the number of elements sampled before and on its index; never
// on the number of threads. The dtype is the default float dtype unless given.

/// Samples the uniform distribution on [0, 1).
Tensor rand(const Shape& shape, std::optional<Dtype> dtype = std::nullopt);
/// Samples the normal distribution with mean 0 and variance 1.
Tensor randn(const Shape& shape, std::optional<Dtype> dtype = std::nullopt);
/// Samples integers uniformly from [low, high).
Tensor randint(int64_t low, int64_t high, const Shape& shape);
/// A random permutation of the integers from 0 to n - 1.
Tensor randperm(int64_t n);
/// Samples 1 with probability `p`, elementwise, and 0 otherwise.
Tensor bernoulli(const Tensor& p);

}  // namespace lucid
#pragma GCC visibility pop
