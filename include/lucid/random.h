#pragma once

#include <cstdint>
#include <optional>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid {

/// Seeds the generator that random ops use when they are given none.
void manual_seed(uint64_t seed);
/// The state of that generator: seed and offset, i64[2].
Tensor get_rng_state();
void set_rng_state(const Tensor& state);

// Draws. A number depends on the seed, on how many were drawn before and on its index, never on threads.

/// Uniform in [0, 1).
Tensor rand(const Shape& shape, std::optional<Dtype> dtype = std::nullopt);
/// Normal with mean 0 and variance 1.
Tensor randn(const Shape& shape, std::optional<Dtype> dtype = std::nullopt);
/// Integers in [low, high).
Tensor randint(int64_t low, int64_t high, const Shape& shape);
/// The integers from 0 to n - 1 in random order.
Tensor randperm(int64_t n);
/// 1 with the probability that `p` gives for each element, otherwise 0.
Tensor bernoulli(const Tensor& p);

}  // namespace lucid
#pragma GCC visibility pop
