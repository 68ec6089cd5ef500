#pragma once

#include <array>
#include <span>
#include <utility>

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// The i64[2] tensor that holds a generator's state: its seed and its offset. Random ops read a copy of it, so that no
/// thread waits for another thread's kernel and no two ops use the same random numbers.
class GeneratorState : public TensorImpl {
 public:
  explicit GeneratorState(uint64_t seed);

  using Words = std::array<int64_t, 2>;
  Words words() const;
  void set(const Words& words);

  /// A copy of the state. A recording knows it as a copy of this tensor.
  TensorRef copy();
  /// Returns a copy and advances the offset by `count`: the random numbers in between are reserved for the caller.
  TensorRef reserve(int64_t count);
  /// Undoes reserve(), unless others have sampled since.
  void give_back(const TensorImpl& reserved, int64_t count);

 private:
  TensorRef copy_and_advance(int64_t count);

  TensorRef offset_;  // a view of the state
};

/// The random numbers reserved for an op. They are returned at the end of the scope unless keep() was called, so that a
/// failed op leaves the generator unchanged.
class ReservedNumbers {
 public:
  ReservedNumbers(GeneratorState& state, int64_t count) : owner_(&state), state_(state.reserve(count)), count_(count) {}
  ReservedNumbers(ReservedNumbers&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)), state_(std::move(other.state_)), count_(other.count_) {}
  ReservedNumbers& operator=(ReservedNumbers&&) = delete;
  ~ReservedNumbers() {
    if (owner_) owner_->give_back(*state_, count_);
  }
  const TensorRef& state() const { return state_; }
  void keep() { owner_ = nullptr; }

 private:
  GeneratorState* owner_;
  TensorRef state_;
  int64_t count_;
};

/// A random number generator: Philox4x32-10. Its state, a seed and an offset, is a tensor i64[2], so that sampling is
/// an op on it. A random number depends on the seed, the offset at the time of the op and its index in the result. An
/// op advances the offset by the number of elements sampled. Any thread may sample at any time.
class GeneratorImpl : public RefCounted {
 public:
  explicit GeneratorImpl(uint64_t seed = kDefaultSeed);

  void manual_seed(uint64_t seed);
  /// Seeds from the operating system's entropy; returns the seed.
  uint64_t seed();
  uint64_t initial_seed() const;

  /// A copy of the state.
  TensorRef state() const;
  void set_state(const TensorImpl& state);
  /// The state itself, for recorders of traces.
  const Ref<GeneratorState>& state_cell() const { return state_; }

  /// Applies a random op, whose first operand is the state, and advances the offset.
  Values sample(const Op& op, std::span<const Operand> others, const Attributes& attributes);

  static constexpr uint64_t kDefaultSeed = 67280421310721;

 private:
  Ref<GeneratorState> state_;
};

/// The generator that random ops use by default: that of the innermost scope of the thread, or else the process's.
GeneratorImpl& current_generator();

/// Makes a generator the default one on this thread until the end of the scope. A plan of a compiled C++ function that
/// was recorded with one default generator does not serve calls with another.
class DefaultGeneratorScope {
 public:
  explicit DefaultGeneratorScope(GeneratorImpl& generator) : saved_(std::exchange(innermost(), &generator)) {}
  DefaultGeneratorScope(const DefaultGeneratorScope&) = delete;
  DefaultGeneratorScope& operator=(const DefaultGeneratorScope&) = delete;
  ~DefaultGeneratorScope() { innermost() = saved_; }

 private:
  friend GeneratorImpl& current_generator();
  static GeneratorImpl*& innermost() {
    static constinit thread_local GeneratorImpl* generator = nullptr;
    return generator;
  }

  GeneratorImpl* saved_;
};

/// Seeds the default generator. Defined with the public functions, in api_random.cpp.
void manual_seed(uint64_t seed);

}  // namespace lucid
