#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid {

class GeneratorImpl;

/// A random number generator. Copies refer to the same generator. Any thread may sample from it at any time.
class Generator {
 public:
  /// A new generator with the seed with which the default generator starts.
  Generator();
  Generator(const Generator& other);
  Generator& operator=(Generator other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Generator();

  Generator& manual_seed(uint64_t seed);
  /// Seeds from the operating system. Returns the seed.
  uint64_t seed();
  uint64_t initial_seed() const;
  /// The state: seed and offset, i64[2].
  Tensor get_state() const;
  /// Restores a state returned by get_state().
  void set_state(const Tensor& state);

  // For the library itself.
  explicit Generator(GeneratorImpl& impl);
  GeneratorImpl& impl() const { return *impl_; }

 private:
  GeneratorImpl* impl_;
};

/// The generator that random ops use unless they are given another.
Generator default_generator();
/// Seeds the default generator.
void manual_seed(uint64_t seed);
/// The state of the default generator.
Tensor get_rng_state();
/// Restores a state returned by get_rng_state().
void set_rng_state(const Tensor& state);

// Random tensors. An element depends only on the seed, on the number of elements sampled before and on its index; never
// on the number of threads. The dtype is the default float dtype unless given.

/// Samples the uniform distribution on [0, 1).
Tensor rand(const Shape& shape, std::optional<Dtype> dtype = kNone, const Generator& generator = default_generator());
/// Samples the normal distribution with mean 0 and variance 1.
Tensor randn(const Shape& shape, std::optional<Dtype> dtype = kNone, const Generator& generator = default_generator());
/// Samples the normal distribution with the given mean and standard deviation.
Tensor normal(double mean, double std, const Shape& shape, std::optional<Dtype> dtype = kNone,
              const Generator& generator = default_generator());
/// The same with a mean and a standard deviation for each element.
Tensor normal(const Tensor& mean, const Tensor& std, const Generator& generator = default_generator());
/// Samples integers uniformly from [low, high). They are int64 unless a dtype is given.
Tensor randint(int64_t low, int64_t high, const Shape& shape, std::optional<Dtype> dtype = kNone,
               const Generator& generator = default_generator());
/// A random permutation of the integers from 0 to n - 1.
Tensor randperm(int64_t n, const Generator& generator = default_generator());
/// Samples 1 with probability `p`, elementwise, and 0 otherwise.
Tensor bernoulli(const Tensor& p, const Generator& generator = default_generator());
/// Samples `num_samples` indices for each row of `p`, with probabilities proportional to its elements.
Tensor multinomial(const Tensor& p, int64_t num_samples, bool replacement = false,
                   const Generator& generator = default_generator());

}  // namespace lucid
#pragma GCC visibility pop
