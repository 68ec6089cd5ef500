#include "runtime/kernel_cache.h"

#include "loop/staged_kernel.h"
#include "runtime/kernel_cache_support.h"

namespace lucid {
namespace {

TEST_F(KernelCacheTest, CompilesOnceForEachKernelAndTarget) {
  auto cache = make_cache();
  const auto a = kernel_named("a"), b = kernel_named("b");
  const auto first = cache->get(a, CpuLevel::kAvx2);
  EXPECT_EQ(cache->get(kernel_named("a"), CpuLevel::kAvx2), first);
  EXPECT_NE(cache->get(a, CpuLevel::kScalar), first);
  EXPECT_NE(cache->get(b, CpuLevel::kAvx2), first);
  EXPECT_EQ(controls_.compiles, 3);
  const auto stats = cache->stats();
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses, 3u);
  EXPECT_EQ(stats.compiles, 3u);
  EXPECT_EQ(stats.disk_hits, 0u);
}

TEST_F(KernelCacheTest, EvictsUnusedKernelsBeyondTheLimit) {
  auto cache = make_cache();
  cache->set_limits({.entries = 16});
  const auto held = cache->get(kernel_named("held"), CpuLevel::kAvx2);
  for (int i = 0; i < 200; ++i) {
    cache->get(kernel_named("k" + std::to_string(i)), CpuLevel::kAvx2);
    cache->get(kernel_named("often"), CpuLevel::kAvx2);
    EXPECT_LE(cache->stats().entries, 16u);
  }
  // Kernels that others refer to stay, and so do frequently used ones.
  EXPECT_EQ(controls_.compiles, 202);
  EXPECT_EQ(cache->get(kernel_named("held"), CpuLevel::kAvx2), held);
  EXPECT_EQ(cache->stats().misses, 202u);
  // An evicted kernel is loaded from the disk.
  cache->get(kernel_named("k0"), CpuLevel::kAvx2);
  EXPECT_EQ(controls_.compiles, 202);
  EXPECT_EQ(cache->stats().disk_hits, 1u);
}

TEST_F(KernelCacheTest, TheLimitIsAlsoInBytes) {
  auto cache = make_cache();
  controls_.padding = 1000;
  cache->set_limits({.bytes = 10'000});
  for (int i = 0; i < 50; ++i) {
    cache->get(kernel_named("k" + std::to_string(i)), CpuLevel::kAvx2);
    EXPECT_LE(cache->stats().bytes, 10'000u);
  }
  cache->clear();
  EXPECT_EQ(cache->stats().bytes, 0u);
}

TEST_F(KernelCacheTest, KernelsInUseMayBeMoreThanTheLimit) {
  auto cache = make_cache();
  cache->set_limits({.entries = 16});
  std::vector<Ref<LoadedCode>> held;
  for (int i = 0; i < 100; ++i) held.push_back(cache->get(kernel_named("k" + std::to_string(i)), CpuLevel::kAvx2));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cache->get(kernel_named("k" + std::to_string(i)), CpuLevel::kAvx2), held[i]);
  EXPECT_EQ(controls_.compiles, 100);
  held.clear();
  for (int i = 0; i < 3; ++i) cache->get(kernel_named("new" + std::to_string(i)), CpuLevel::kAvx2);
  EXPECT_LE(cache->stats().entries, 16u);
}

TEST_F(KernelCacheTest, PartsAreTakenFromTheCache) {
  auto cache = make_cache();
  const auto a = kernel_named("a"), b = kernel_named("b");
  const auto part = cache->get(a, CpuLevel::kAvx2);
  const loop::Stage stages[] = {{&a, {0}}, {&b, {0}}, {&a, {0}}};
  const Dtype arguments[] = {Dtype::kF32};
  cache->get(loop::staged_kernel("joined", stages, arguments, {}), CpuLevel::kAvx2);
  EXPECT_EQ(controls_.compiles, 3);  // a, b and the kernel that calls them
  EXPECT_EQ(controls_.last_parts.size(), 2u);
  EXPECT_EQ(controls_.last_parts[0], part);
  EXPECT_EQ(cache->get(b, CpuLevel::kAvx2), controls_.last_parts[1]);
  EXPECT_EQ(controls_.compiles, 3);
}

TEST_F(KernelCacheTest, SixteenThreadsShareOneCompilation) {
  auto cache = make_cache();
  controls_.compile_milliseconds = 20;
  std::latch start(16);
  std::vector<Ref<LoadedCode>> codes(16);
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      codes[t] = cache->get(kernel_named("shared"), CpuLevel::kAvx2);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(controls_.compiles, 1);
  for (const auto& code : codes) EXPECT_EQ(code, codes[0]);
  EXPECT_EQ(cache->stats().hits, 15u);
}

TEST_F(KernelCacheTest, ThreadsCompileDifferentKernelsAtTheSameTime) {
  auto cache = make_cache();
  std::latch together(8);  // opens only when all eight compile at once
  controls_.together = &together;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] { cache->get(kernel_named("k" + std::to_string(t)), CpuLevel::kAvx2); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(controls_.compiles, 8);
}

TEST_F(KernelCacheTest, AFailureReachesAllWaitingThreadsAndIsRetriedLater) {
  auto cache = make_cache();
  controls_.failures_left = 1;
  controls_.compile_milliseconds = 50;
  std::latch start(16);
  std::atomic<int> failures{0}, successes{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      try {
        cache->get(kernel_named("broken"), CpuLevel::kAvx2);
        successes.fetch_add(1);
      } catch (const InternalError& error) {
        EXPECT_STREQ(error.what(), "cannot compile broken");
        failures.fetch_add(1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  // A thread that comes after the failure starts the second compilation, which succeeds.
  EXPECT_GE(failures, 1);
  EXPECT_EQ(failures + successes, 16);
  EXPECT_EQ(controls_.compiles, successes > 0 ? 2 : 1);
  EXPECT_TRUE(cache->get(kernel_named("broken"), CpuLevel::kAvx2));
  EXPECT_EQ(controls_.compiles, 2);
}

}  // namespace
}  // namespace lucid
