#pragma once

#include <lucid/tensor.h>

#include "tensor/random.h"

namespace lucid::nn::init {

/// For its lifetime, the initializers of this thread sample from the given generator instead of the default one.
class UseGenerator {
 public:
  explicit UseGenerator(GeneratorImpl& generator);
  UseGenerator(const UseGenerator&) = delete;
  UseGenerator& operator=(const UseGenerator&) = delete;
  ~UseGenerator();

 private:
  GeneratorImpl* before_;
};

// Sample from the generator in use.

Tensor random_uniform(const Shape& shape, Dtype dtype);
Tensor random_normal(const Shape& shape, Dtype dtype);
/// A random permutation of the integers below n.
Tensor random_permutation(int64_t n);

}  // namespace lucid::nn::init
