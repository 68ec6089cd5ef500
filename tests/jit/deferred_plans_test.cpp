#include "jit/deferred_plans.h"

#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <atomic>
#include <thread>

#include "tensor/api.h"

namespace lucid::testing {
namespace {

using jit::run_deferred;
using jit::verify_deferred;

/// A training step of a small model, written with ops only.
class Step {
 public:
  Step() {
    manual_seed(1);
    first_ = randn({8, 16}).requires_grad_();
    second_ = randn({16, 4}).requires_grad_();
  }

  std::vector<double> operator()(const Tensor& x) {
    const Tensor loss = ((x.matmul(first_).tanh().matmul(second_)) * x.sum()).exp().clamp(0.0, 4.0).mean();
    loss.backward();
    const NoGrad no_grad;
    for (Tensor* parameter : {&first_, &second_}) {
      parameter->sub_(parameter->grad() * 0.1);
      parameter->set_grad({});
    }
    std::vector<double> seen = loss.to_vector<double>();
    for (const double value : first_.to_vector<double>()) seen.push_back(value);
    return seen;
  }

 private:
  Tensor first_, second_;
};

Tensor batch(int number) {
  manual_seed(static_cast<uint64_t>(number) + 10);
  return randn({20, 8})[{Slice(number % 4, number % 4 + 6)}] * 0.1;
}

TEST(DeferredPlans, GiveTheBitsOfEagerCalls) {
  for (const DeferredRunner runner : {&run_deferred, &verify_deferred}) {
    Step eager, deferred;
    int64_t planned = 0;
    for (int i = 0; i < 8; ++i) {
      const std::vector<double> expected = eager(batch(i));
      DeferScope scope(runner);
      EXPECT_EQ(deferred(batch(i)), expected) << i;
      const auto counts = scope.finish();
      ASSERT_TRUE(counts);
      planned = counts->planned;
      EXPECT_EQ(counts->batches, 1);
      jit::wait_for_compile_tasks();
    }
    EXPECT_EQ(planned, 1);
  }
}

TEST(DeferredPlans, WritesToOtherPartsOfACellAreOtherBatches) {
  const auto write = [](Tensor& whole, int64_t begin, const Tensor& x) {
    whole[{Slice(begin, begin + 4)}].add_(x * 2.0);
    return (whole + 1.0).to_vector<double>();
  };
  Tensor eager = zeros({16}), deferred = zeros({16});
  const Tensor x = arange(4).to(kFloat32);
  for (int i = 0; i < 24; ++i) {
    const int64_t begin = 4 * (i % 4);
    const std::vector<double> expected = write(eager, begin, x);
    {
      DeferScope scope(&run_deferred);
      EXPECT_EQ(write(deferred, begin, x), expected) << i;
    }
    jit::wait_for_compile_tasks();
  }
}

TEST(DeferredPlans, OtherThreadsReadAndWriteMeanwhile) {
  const Tensor shared = ones({64});
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  Tensor published = shared.clone();
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      const Tensor mine = t == 0 ? shared : published;
      while (!stop) {
        const double sum = (mine * 1.0).sum().item<double>();
        EXPECT_GE(sum, 64.0);
      }
    });
  const Tensor x = ones({64});
  for (int i = 0; i < 300; ++i) {
    DeferScope scope(&run_deferred);
    const Tensor y = ((x + shared) * 0.5).exp();
    published.add_(y);
    const Tensor z = published * 1.0 + y;
    EXPECT_GE(z.sum().item<double>(), 64.0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lucid::testing
