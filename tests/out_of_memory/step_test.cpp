// Makes each allocation of a compiled training step fail, one per run. The step then throws, or has the same effect as
// in eager mode. Repeating the step afterwards returns the right bits.
//
// CI fails every k-th allocation, for a prime k; LUCID_LONG_TESTS=1 fails all of them.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>

#include "base/out_of_memory.h"
#include "failing_new.h"
#include "jit/compile_queue.h"
#include "runtime/allocator.h"
#include "runtime/kernel_cache.h"
#include "runtime/thread_pool.h"
#include "tensor/plan_cache.h"

namespace lucid {
namespace {

using testing::FailingNew;

bool runs_all() {
  const char* const value = std::getenv("LUCID_LONG_TESTS");
  return value && std::strcmp(value, "1") == 0;
}

/// A network with dropout and its optimizer, and a step that is compiled as a whole.
class Training {
 public:
  Training() {
    manual_seed(7);
    x_ = randn({8, 16});
    y_ = randn({8, 4});
    parameters_ = {randn({16, 4}), zeros({4})};
    for (Tensor& parameter : parameters_) {
      parameter.requires_grad_();
      means_.push_back(zeros(parameter.shape()));
      squares_.push_back(zeros(parameter.shape()));
    }
    start_ = state();
  }

  Tensor step_eagerly(const Tensor& x, const Tensor& y) {
    for (Tensor& parameter : parameters_) parameter.set_grad(Tensor());
    const Tensor hidden = layer_norm(gelu(matmul(x, parameters_[0]) + parameters_[1]), {4});
    Tensor loss = mean(square(nn::functional::dropout(hidden, 0.5) - y));
    loss.backward();
    const NoGrad no_grad;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor gradient = parameters_[i].grad();
      means_[i] *= 0.9;
      means_[i] += 0.1 * gradient;
      squares_[i] *= 0.99;
      squares_[i] += 0.01 * square(gradient);
      parameters_[i] -= 0.01 * means_[i] / (sqrt(squares_[i]) + 1e-6);
    }
    return loss;
  }

  /// Runs the compiled step and waits for the compilations that it started.
  Tensor step() {
    Tensor loss = (*step_)(x_, y_);
    jit::wait_for_compile_tasks();
    return loss;
  }
  Tensor step_eagerly() { return step_eagerly(x_, y_); }
  CompileInfo cache_info() const { return step_->cache_info(); }

  void forget_plans() { step_.emplace(compile(Step{this})); }

  /// Parameters, gradients, the optimizer's tensors and the random generator.
  using State = std::vector<std::vector<float>>;
  State state() const {
    State state;
    for (const Tensor& parameter : parameters_) {
      state.push_back(parameter.to_vector<float>());
      state.push_back(parameter.grad().defined() ? parameter.grad().to_vector<float>() : std::vector<float>());
    }
    for (const Tensor& tensor : means_) state.push_back(tensor.to_vector<float>());
    for (const Tensor& tensor : squares_) state.push_back(tensor.to_vector<float>());
    std::vector<float> random;
    for (const int64_t number : get_rng_state().to_vector<int64_t>()) random.push_back(static_cast<float>(number));
    state.push_back(random);
    return state;
  }

  /// Restores the initial state, with gradients as after an earlier step.
  void reset() {
    const NoGrad no_grad;
    manual_seed(11);
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Shape shape = parameters_[i].shape();
      parameters_[i].copy_(from_vector(start_[2 * i], shape));
      parameters_[i].set_grad(ones(shape));
      means_[i].copy_(zeros(shape));
      squares_[i].copy_(zeros(shape));
    }
  }

 private:
  struct Step {
    Training* self;
    Tensor operator()(const Tensor& x, const Tensor& y) const { return self->step_eagerly(x, y); }
  };

  Tensor x_, y_;
  std::vector<Tensor> parameters_, means_, squares_;
  State start_;
  std::optional<Compiled<Step>> step_;
};

/// The possible outcomes of a call.
enum class Outcome { kDone, kOutOfMemory };

template <typename Call>
Outcome outcome_of(const Call& call) {
  try {
    call();
    return Outcome::kDone;
  } catch (const std::exception& exception) {
    if (!is_out_of_memory(exception)) throw;
    return Outcome::kOutOfMemory;
  }
}

class StepTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Without the compile thread, calls compile synchronously, in the same order every time.
    jit::stop_compile_thread();
    set_thread_count(1);
    training_.reset();
    before_ = training_.state();
    training_.step_eagerly();
    after_ = training_.state();
  }

  /// Fails one allocation of `call` after another, until a call succeeds without a failure.
  template <typename Prepare, typename Call, typename Failing, typename Check>
  static void fail_each(int64_t first, int64_t stride, const Prepare& prepare, const Call& call, const Failing& failing,
                        const Check& check) {
    int64_t count = 0;
    for (int64_t i = first;; i += stride, ++count) {
      SCOPED_TRACE(::testing::Message() << "after " << i << " allocations");
      prepare();
      Outcome outcome = Outcome::kDone;
      bool has_failed = false;
      {
        auto scope = failing(i);
        outcome = outcome_of(call);
        has_failed = scope.has_failed();
      }
      check(outcome);
      if (::testing::Test::HasFailure()) return;
      if (!has_failed) break;
    }
    EXPECT_GT(count, 2);
    RecordProperty("failed_allocations", std::to_string(count));
  }

  /// Checks that the state is unchanged or that of a complete step, and that the next step is right.
  void check(Outcome outcome) {
    if (outcome == Outcome::kDone)
      EXPECT_EQ(training_.state(), after_);
    else
      EXPECT_EQ(training_.state(), before_);
    check_next();
  }
  void check_next() {
    training_.reset();
    ASSERT_EQ(training_.state(), before_);
    training_.step();
    EXPECT_EQ(training_.state(), after_);
  }

  Training training_;
  Training::State before_, after_;
};

class Step : public StepTest, public ::testing::WithParamInterface<FailingNew::Mode> {
 protected:
  static FailingNew failing_new(int64_t successes) { return FailingNew(successes, GetParam()); }
  static AllocationFailureScope failing_storage(int64_t successes) {
    return AllocationFailureScope(successes, GetParam() == FailingNew::Mode::kOnce);
  }
};

/// Compiling a step makes many allocations, so they are split into parts, one per test.
constexpr int64_t kParts = 4;

class CompiledStep : public StepTest, public ::testing::WithParamInterface<std::tuple<FailingNew::Mode, int64_t>> {};

TEST_P(Step, RunsOrDoesNothingWithAPlan) {
  training_.forget_plans();
  for (int i = 0; i < 3; ++i) {
    training_.reset();
    training_.step();
  }
  ASSERT_EQ(training_.cache_info().compiles, 1);
  const int64_t hits = training_.cache_info().hits;
  ASSERT_GT(hits, 0);
  fail_each(
      0, 1, [&] { training_.reset(); }, [&] { training_.step(); }, failing_new,
      [&](Outcome outcome) { check(outcome); });
  EXPECT_GT(training_.cache_info().hits, hits);
  EXPECT_EQ(training_.cache_info().compiles, 1);
}

TEST_P(CompiledStep, IsRecordedAndCompiled) {
  const auto [mode, part] = GetParam();
  const int64_t apart = runs_all() ? 1 : 211;
  // If eager mode fails within a step, some of the step's effects remain.
  fail_each(
      part * apart, kParts * apart,
      [&] {
        training_.forget_plans();
        training_.reset();
      },
      [&] {
        training_.step();
        // The second call adds the plan to the table.
        jit::wait_for_compile_tasks();
        training_.cache_info();
      },
      [mode = mode](int64_t i) { return FailingNew(i, mode); },
      [&](Outcome outcome) {
        if (outcome == Outcome::kDone) EXPECT_EQ(training_.state(), after_);
        check_next();
        check_next();
      });
  EXPECT_EQ(training_.cache_info().compiles, 1);
  EXPECT_GT(training_.cache_info().hits, 0);
}

TEST_P(Step, RunsOrDoesNothingWithAPlanAndNoStorage) {
  training_.forget_plans();
  for (int i = 0; i < 3; ++i) {
    training_.reset();
    training_.step();
  }
  fail_each(
      0, 1, [&] { training_.reset(); }, [&] { training_.step(); }, failing_storage,
      [&](Outcome outcome) { check(outcome); });
  EXPECT_EQ(training_.cache_info().compiles, 1);
}

TEST_P(Step, IsRecordedAndCompiledWithoutStorage) {
  fail_each(
      0, 1,
      [&] {
        training_.forget_plans();
        training_.reset();
      },
      [&] {
        training_.step();
        training_.cache_info();
      },
      failing_storage,
      [&](Outcome outcome) {
        if (outcome == Outcome::kDone) EXPECT_EQ(training_.state(), after_);
        check_next();
        check_next();
      });
}

TEST_P(Step, EagerOpsWithColdCaches) {
  const Tensor x = randn({3, 40});
  const auto compute = [&] { return (softmax(x, 1) * 2.0).to_vector<float>(); };
  const std::vector<float> expected = compute();
  std::vector<float> computed;
  fail_each(
      0, runs_all() ? 1 : 43,
      [&] {
        kernel_cache().clear();
        clear_eager_plans();
      },
      [&] { computed = compute(); }, failing_new,
      [&](Outcome outcome) {
        if (outcome == Outcome::kDone) EXPECT_EQ(computed, expected);
        EXPECT_EQ(compute(), expected);
      });
}

constexpr FailingNew::Mode kModes[] = {FailingNew::Mode::kOnce, FailingNew::Mode::kFromThenOn};

const char* name_of(FailingNew::Mode mode) { return mode == FailingNew::Mode::kOnce ? "Once" : "FromThenOn"; }

INSTANTIATE_TEST_SUITE_P(Failing, Step, ::testing::ValuesIn(kModes),
                         [](const auto& info) { return name_of(info.param); });
INSTANTIATE_TEST_SUITE_P(Failing, CompiledStep,
                         ::testing::Combine(::testing::ValuesIn(kModes), ::testing::Range(int64_t{0}, kParts)),
                         [](const auto& info) {
                           return fmt::format("{}{}", name_of(std::get<0>(info.param)), std::get<1>(info.param));
                         });

}  // namespace
}  // namespace lucid
