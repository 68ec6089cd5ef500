// Threads that call compiled functions. These tests also run under the thread sanitizer.

#include <atomic>
#include <latch>
#include <thread>

#include "../tensor/support.h"
#include "jit/backward_part.h"
#include "lucid/compile.h"
#include "lucid/lucid.h"

namespace lucid {
namespace {

using namespace lucid::testing;

constexpr int kThreads = 64;
constexpr int kCalls = 1000;

void run_in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int t = 0; t < count; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

TEST(CompileThreads, MakeOnePlanForEachKey) {
  const Tensor weight = randn({4, 3});
  const auto f = compile([&](const Tensor& x) { return tanh(lucid::matmul(x, weight)) + 1.0; }, {.dynamic = false});
  std::vector<Tensor> arguments;
  std::vector<std::vector<double>> expected;
  for (int64_t rows : {1, 2, 5}) {
    arguments.push_back(randn({rows, 4}));
    expected.push_back(read(tanh(lucid::matmul(arguments.back(), weight)) + 1.0));
  }
  std::atomic<int> wrong = 0;
  run_in_threads(kThreads, [&](int number) {
    for (int call = 0; call < kCalls; ++call) {
      const auto at = static_cast<size_t>(number + call) % arguments.size();
      if (read(f(arguments[at])) != expected[at]) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(f.cache_info().compiles, 3);
  EXPECT_EQ(f.cache_info().eager_calls, 0);
  EXPECT_EQ(f.cache_info().hits + f.cache_info().misses, kThreads * kCalls);
}

TEST(CompileThreads, KeepGradientsAndRandomNumbersSeparate) {
  const Tensor weight = randn({4}).requires_grad_();
  const auto f = compile([&](const Tensor& x) { return sum(exp(x * weight)); });
  const auto noise = compile([](const Tensor& x) { return x + rand({4}); });
  std::atomic<int> wrong = 0;
  run_in_threads(8, [&](int number) {
    const Tensor x = full({4}, 0.1 * number).requires_grad_();
    const std::vector<double> expected = read(grad({sum(exp(x * weight))}, {x})[0]);
    for (int call = 0; call < 50; ++call) {
      if (read(grad({f(x)}, {x})[0]) != expected) ++wrong;
      for (double element : read(noise(zeros({4}))))
        if (element < 0 || element >= 1) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
  // The second recording, with another argument, shows that the function does not capture the first.
  EXPECT_LE(f.cache_info().compiles, 2);
}

TEST(CompileThreads, RecordOnALeafThatWasNotUsedBefore) {
  const auto f = compile([](const Tensor& x) { return sum(x * 2.0); });
  std::atomic<int> wrong = 0;
  for (int round = 0; round < 20; ++round) {
    const Tensor leaf = ones({4}).requires_grad_();
    run_in_threads(4, [&](int number) {
      const Tensor loss = number % 2 ? f(leaf) : sum(leaf * 2.0);
      loss.backward();
    });
    if (read(leaf.grad()) != std::vector<double>(4, 8.0)) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(CompileThreads, RecordOnAViewWhoseRootWasWrittenTo) {
  std::atomic<int> wrong = 0;
  for (int round = 0; round < 20; ++round) {
    const Tensor leaf = ones({4}).requires_grad_();
    Tensor whole = leaf * 1.0;
    const Tensor part = narrow(whole, 0, 1, 2);
    whole *= 3.0;
    std::latch together(4);
    run_in_threads(4, [&](int) {
      together.arrive_and_wait();
      sum(part * 2.0).backward({}, true);
    });
    if (read(leaf.grad()) != std::vector<double>{0.0, 24.0, 24.0, 0.0}) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
}

TEST(CompileThreads, ClearPlansWhileOthersRun) {
  const auto f = compile([](const Tensor& x) { return exp(x) * 2.0; });
  const Tensor x = randn({16});
  const std::vector<double> expected = read(exp(x) * 2.0);
  std::atomic<int> wrong = 0;
  run_in_threads(8, [&](int number) {
    for (int call = 0; call < 50; ++call) {
      if (number == 0)
        f.invalidate_cache();
      else if (read(f(x)) != expected)
        ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(CompileThreads, DropPlansWhileTheyAreCompiled) {
  std::atomic<int> wrong = 0;
  run_in_threads(8, [&](int number) {
    for (int size = 1; size < 16; ++size) {
      const Tensor weight = full({size}, 3.0);
      const auto f = compile([&](const Tensor& x) { return exp(x * weight) + static_cast<double>(number); });
      if (read(f(zeros({size}))) != std::vector<double>(static_cast<size_t>(size), 1.0 + number)) ++wrong;
    }
  });
  wait_for_compiles();
  EXPECT_EQ(wrong, 0);
}

TEST(CompileThreads, ManyWaitForOnePlan) {
  const auto f = compile([](const Tensor& x) { return sum(exp(x) * 2.0); }, {.dynamic = false});
  for (int64_t size = 1; size <= 8; ++size) {
    const Tensor x = full({size}, 0.5);
    const std::vector<double> expected = read(f(x));
    std::atomic<int> wrong = 0;
    run_in_threads(8, [&](int) {
      if (read(f(x)) != expected) ++wrong;
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(f.cache_info().hits, 8 * size);
    EXPECT_EQ(f.cache_info().compiles, size);
  }
}

TEST(CompileThreads, WhatAFunctionComputesInAnotherThreadIsNotRecorded) {
  const auto f = [](const Tensor& x) {
    Tensor half;
    std::thread([&] { half = x * 0.5; }).join();
    return half + 1.0;
  };
  const auto fast = compile(f, {.wait = true});
  for (int i = 0; i < 4; ++i) {
    const Tensor x = full({3}, i);
    EXPECT_EQ(read(fast(x)), read(f(x)));
  }
  EXPECT_NE(fast.explain().find("another thread"), std::string::npos) << fast.explain();
  // Tensors that another thread has made before are captured like any other.
  const Tensor half = f(ones({3}));
  const auto uses = compile([&](const Tensor& x) { return x * half; }, {.wait = true});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(read(uses(full({3}, i))), read(half * i));
  EXPECT_EQ(uses.cache_info().hits, 3);
}

TEST(CompileThreads, RecordTheirOwnFunctions) {
  std::atomic<int> wrong = 0;
  run_in_threads(8, [&](int number) {
    for (int size = 1; size < 8; ++size) {
      const auto f = compile([&](const Tensor& x) { return x * static_cast<double>(number) + 1.0; });
      const Tensor x = full({size}, 2.0);
      const std::vector<double> expected(static_cast<size_t>(size), 2.0 * number + 1.0);
      for (int call = 0; call < 3; ++call)
        if (read(f(x)) != expected) ++wrong;
      if (f.cache_info().hits != 2) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(CompileThreads, MakeOneBackwardPlan) {
  const Tensor weight = randn({8, 8}).requires_grad_();
  const auto f = compile([&](const Tensor& x) { return tanh(lucid::matmul(x, weight)) * sigmoid(x); });
  const Tensor x = randn({4, 8}).requires_grad_();
  const std::vector<double> expected = read(grad({sum(tanh(lucid::matmul(x, weight)) * sigmoid(x))}, {x})[0]);
  f(x);
  const jit::BackwardCounters before = jit::backward_counters();
  std::atomic<int> wrong = 0;
  run_in_threads(8, [&](int) {
    for (int call = 0; call < 100; ++call)
      if (read(grad({sum(f(x))}, {x})[0]) != expected) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(jit::backward_counters().plans - before.plans, 1);
  EXPECT_GT(jit::backward_counters().runs - before.runs, 0);
}

TEST(CompileThreads, RunBackwardThroughOneGraphConcurrently) {
  const Tensor x = randn({4, 8}).requires_grad_();
  const auto f = compile([](const Tensor& x) { return tanh(x) * sigmoid(x) * x; });
  for (int i = 0; i < 3; ++i) sum(f(x)).backward();
  const std::vector<double> expected = read(grad({sum(f(x))}, {x})[0]);
  const Tensor total = sum(f(x));
  std::atomic<int> wrong = 0;
  run_in_threads(8, [&](int) {
    for (int pass = 0; pass < 50; ++pass)
      if (read(grad({total}, {x}, {}, {.retain_graph = true})[0]) != expected) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace lucid
