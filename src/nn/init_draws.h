#pragma once

#include <lucid/tensor.h>

#include "tensor/random.h"

namespace lucid::nn::init {

/// While one lives, the initialisers of this thread draw from another generator than the default one.
class UseGenerator {
 public:
  explicit UseGenerator(Generator& generator);
  UseGenerator(const UseGenerator&) = delete;
  UseGenerator& operator=(const UseGenerator&) = delete;
  ~UseGenerator();

 private:
  Generator* before_;
};

// Draws from the generator in use.

Tensor draw_uniform(const Shape& shape, Dtype dtype);
Tensor draw_normal(const Shape& shape, Dtype dtype);
/// The numbers below n in a random order.
Tensor draw_permutation(int64_t n);

}  // namespace lucid::nn::init
