#pragma once

#include <mutex>
#include <span>

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// A source of random numbers: Philox4x32-10. Its state, seed and offset, lies in a tensor i64[2], so that a draw is an
/// op on it. A number depends on the seed, the offset at the draw and its index in the result; a draw moves the offset
/// on by the number of elements drawn.
class Generator : public RefCounted {
 public:
  explicit Generator(uint64_t seed = kDefaultSeed);

  void manual_seed(uint64_t seed);
  /// Seeds from the operating system's entropy; returns the seed.
  uint64_t seed();
  uint64_t initial_seed() const;

  /// A copy of the state.
  TensorRef state() const;
  void set_state(const TensorImpl& state);
  /// The state itself, for whoever records a trace.
  const TensorRef& state_cell() const { return state_; }

  /// Held by whoever draws: two draws must not see the same state.
  std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }

  /// Applies an op whose first operand is the state, and moves the offset on.
  Values draw(const Op& op, std::span<const Operand> others, const Attributes& attributes);

  static constexpr uint64_t kDefaultSeed = 67280421310721;

 private:
  mutable std::mutex mutex_;
  TensorRef state_;
  TensorRef offset_;  // a view of the state
};

/// The generator that draws use when none is given.
Generator& default_generator();
/// Seeds the default generator; defined with the public functions, in api_random.cpp.
void manual_seed(uint64_t seed);

}  // namespace lucid
