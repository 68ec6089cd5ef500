// Threads that do everything at once, without an interpreter lock. These tests also run under the thread sanitizer.
// Kernels are not instrumented: the sanitizer sees only the code around them.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "../tensor/support.h"
#include "lucid/compile.h"
#include "lucid/lucid.h"
#include "runtime/allocator.h"

namespace lucid {
namespace {

using namespace lucid::testing;
using Clock = std::chrono::steady_clock;

std::chrono::seconds duration() {
  const char* const seconds = std::getenv("LUCID_STRESS_SECONDS");
  return std::chrono::seconds(seconds ? std::atoi(seconds) : 3);
}

/// Runs each function in its own thread, repeatedly, with the index of the round, until the time is up.
void run_all(const std::vector<std::function<void(int64_t)>>& works) {
  const Clock::time_point end = Clock::now() + duration();
  std::vector<std::thread> threads;
  for (const auto& work : works)
    threads.emplace_back([&] {
      for (int64_t round = 0; Clock::now() < end; ++round) work(round);
    });
  for (std::thread& thread : threads) thread.join();
}

bool is_within(const Tensor& tensor, double low, double high) {
  const std::vector<double> elements = read(tensor);
  return std::all_of(elements.begin(), elements.end(), [&](double x) { return low <= x && x <= high; });
}

TEST(Stress, EightThreadsDoingEverythingAtOnce) {
  constexpr int64_t kSizes[] = {5, 300, 20000};
  std::vector<Tensor> shared;
  for (int64_t size : kSizes) shared.push_back(full({size}, 1.0));
  const Tensor weight = full({200}, 1.0).requires_grad_();
  const Tensor doubled = weight * 2.0;
  const auto sums = compile([](const Tensor& x, const Tensor& y) { return sum(x * y) + sum(y); });
  const auto noise = compile([](const Tensor& x) { return x + rand({7}); });
  const auto write = compile([](Tensor x, const Tensor& y) {
    apply_("mul", x, {0.0});
    apply_("add", x, {y});
    return y;
  });
  std::atomic<int> wrong = 0;
  const auto expect = [&](bool is_right) { wrong += !is_right; };
  const auto of_round = [&](int64_t round) -> Tensor& { return shared[static_cast<size_t>(round % 3)]; };
  run_all({
      [&](int64_t round) { expect(is_within(of_round(round) * 2.0, 0, 10)); },
      [&](int64_t round) {
        const Tensor own = full({round % 40 + 1}, 1.0);
        expect(read(sums(own, own)) == std::vector<double>{2.0 * static_cast<double>(round % 40 + 1)});
        sums(of_round(round), of_round(round));
      },
      [&](int64_t round) {
        Tensor x = of_round(round);
        const Tensor view = x.detach();
        if (round % 2)
          apply_("mul", x, {1.0});
        else
          write(x, full({1}, static_cast<double>(round % 5 + 1)));
      },
      [&](int64_t round) {
        if (round % 20 == 0) manual_seed(static_cast<uint64_t>(round));
        expect(is_within(rand({round % 30 + 1}), 0, 1));
        expect(is_within(noise(zeros({7})), 0, 1));
      },
      [&](int64_t) { sum(weight * 3.0).backward(); },
      [&](int64_t) { sum(doubled).backward(Tensor(), /*retain_graph=*/true); },
      [&](int64_t round) {
        const auto remove = register_hook(doubled, [](const Tensor& gradient) { return gradient; });
        Tensor leaf = weight;
        leaf.set_grad(round % 2 ? zeros({200}) : Tensor());
        if (const Tensor gradient = leaf.grad(); gradient.defined()) expect(is_within(gradient, 0, 1e12));
        remove();
      },
      [&](int64_t round) {
        full({kSizes[round % 3]}, 1e30);
        empty_cache();
      },
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace lucid
