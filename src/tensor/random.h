#pragma once

#include <array>
#include <span>
#include <utility>

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// The tensor i64[2] that a generator's state lies in: its seed and its offset. Draws read copies of it, so that no
/// thread waits for another's kernel, and no two draws see the same numbers.
class GeneratorState : public TensorImpl {
 public:
  explicit GeneratorState(uint64_t seed);

  using Words = std::array<int64_t, 2>;
  Words words() const;
  void set(const Words& words);

  /// A copy of the state, of which a recording knows that it is one.
  TensorRef copy();
  /// The same, and moves the offset on by `count`: the numbers in between are the caller's.
  TensorRef take(int64_t count);
  /// Undoes take(), unless others have drawn since.
  void give_back(const TensorImpl& taken, int64_t count);

 private:
  TensorRef copy_and_advance(int64_t count);

  TensorRef offset_;  // a view of the state
};

/// What a draw takes from a generator; given back at the end of the scope if nothing was drawn after all.
class TakenNumbers {
 public:
  TakenNumbers(GeneratorState& state, int64_t count) : owner_(&state), state_(state.take(count)), count_(count) {}
  TakenNumbers(TakenNumbers&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)), state_(std::move(other.state_)), count_(other.count_) {}
  TakenNumbers& operator=(TakenNumbers&&) = delete;
  ~TakenNumbers() {
    if (owner_) owner_->give_back(*state_, count_);
  }
  const TensorRef& state() const { return state_; }
  void keep() { owner_ = nullptr; }

 private:
  GeneratorState* owner_;
  TensorRef state_;
  int64_t count_;
};

/// A source of random numbers: Philox4x32-10. Its state, seed and offset, lies in a tensor i64[2], so that a draw is an
/// op on it. A number depends on the seed, the offset at the draw and its index in the result; a draw moves the offset
/// on by the number of elements drawn. Any thread may draw at any time.
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
  const Ref<GeneratorState>& state_cell() const { return state_; }

  /// Applies an op whose first operand is the state, and moves the offset on.
  Values draw(const Op& op, std::span<const Operand> others, const Attributes& attributes);

  static constexpr uint64_t kDefaultSeed = 67280421310721;

 private:
  Ref<GeneratorState> state_;
};

/// The generator that draws use when none is given.
Generator& default_generator();
/// Seeds the default generator; defined with the public functions, in api_random.cpp.
void manual_seed(uint64_t seed);

}  // namespace lucid
