#include <algorithm>
#include <random>

#include "base/error.h"
#include "base/options.h"
#include "support.h"

namespace lucid {
namespace {

TEST(GpuMemory, BlocksAreAlignedAndDisjoint) {
  std::mt19937 random(1);
  struct Block {
    uint64_t address;
    size_t bytes;
  };
  std::vector<Block> blocks;
  for (int i = 0; i < 2000; ++i) {
    if (blocks.empty() || random() % 3) {
      const size_t bytes = random() % 3 ? random() % 2000 : random() % 200000;
      blocks.push_back({reinterpret_cast<uint64_t>(gpu().allocate(bytes)), bytes});
      EXPECT_EQ(blocks.back().address % 256, 0u);
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      gpu().deallocate(reinterpret_cast<void*>(blocks.back().address), blocks.back().bytes);
      blocks.pop_back();
    }
  }
  std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.address < b.address; });
  for (size_t i = 1; i < blocks.size(); ++i)
    EXPECT_LE(blocks[i - 1].address + std::max<size_t>(blocks[i - 1].bytes, 1), blocks[i].address);
  for (const Block& block : blocks) gpu().deallocate(reinterpret_cast<void*>(block.address), block.bytes);
}

TEST(GpuMemory, FreedMemoryIsUsedAgain) {
  void* const first = gpu().allocate(12345);
  gpu().deallocate(first, 12345);
  void* const second = gpu().allocate(12345);
  EXPECT_EQ(first, second);
  gpu().deallocate(second, 12345);
}

TEST(GpuMemory, FreeNeighboursMerge) {
  gpu().empty_cache();
  constexpr size_t kPart = size_t{1} << 20;
  const int64_t before = gpu().memory_stats().cached_bytes + gpu().memory_stats().bytes_in_use;
  // In every order of freeing, the whole fits again.
  for (int order = 0; order < 6; ++order) {
    std::vector<int> indices = {0, 1, 2};
    for (int i = 0; i < order; ++i) std::next_permutation(indices.begin(), indices.end());
    void* parts[3];
    for (void*& part : parts) part = gpu().allocate(kPart);
    for (int index : indices) gpu().deallocate(parts[index], kPart);
    void* const whole = gpu().allocate(size_t{60} << 20);
    gpu().deallocate(whole, size_t{60} << 20);
  }
  const int64_t after = gpu().memory_stats().cached_bytes + gpu().memory_stats().bytes_in_use;
  EXPECT_LE(after - before, (int64_t{64} << 20) + 4096);
}

TEST(GpuMemory, StatsCount) {
  gpu().reset_peak_memory();
  const MemoryStats before = gpu().memory_stats();
  EXPECT_EQ(before.peak_bytes, before.bytes_in_use);
  void* const data = gpu().allocate(1000);
  const MemoryStats during = gpu().memory_stats();
  EXPECT_EQ(during.bytes_in_use, before.bytes_in_use + 1024);
  EXPECT_EQ(during.allocations, before.allocations + 1);
  EXPECT_EQ(during.peak_bytes, during.bytes_in_use);
  gpu().deallocate(data, 1000);
  const MemoryStats after = gpu().memory_stats();
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(after.peak_bytes, during.peak_bytes);
  EXPECT_GE(after.cached_bytes, 1024);
  gpu().reset_peak_memory();
  EXPECT_EQ(gpu().memory_stats().peak_bytes, after.bytes_in_use);
}

TEST(GpuMemory, EmptyCacheReturnsMemory) {
  constexpr size_t kLarge = size_t{300} << 20;
  gpu().empty_cache();
  void* const data = gpu().allocate(kLarge);
  void* const other = gpu().allocate(100);
  gpu().deallocate(data, kLarge);
  EXPECT_GE(gpu().memory_stats().cached_bytes, static_cast<int64_t>(kLarge));
  gpu().empty_cache();
  EXPECT_LE(gpu().memory_stats().cached_bytes, int64_t{256} << 20);
  gpu().deallocate(other, 100);
  gpu().empty_cache();
  EXPECT_EQ(gpu().memory_stats().cached_bytes, 0);
}

TEST(GpuMemory, ExhaustionIsAnErrorAndMemoryStaysUsable) {
  gpu().empty_cache();
  const MemoryStats before = gpu().memory_stats();
  Options changed = options();
  changed.gpu_memory_limit = int64_t{100} << 20;
  const OptionsScope scope(changed);
  constexpr size_t kPart = size_t{20} << 20;
  std::vector<void*> parts;
  std::string message;
  for (int i = 0; i < 10 && message.empty(); ++i) {
    try {
      parts.push_back(gpu().allocate(kPart));
    } catch (const MemoryError& error) {
      message = error.what();
    }
  }
  EXPECT_EQ(parts.size(), 4u);
  EXPECT_NE(message.find("20971520 bytes"), std::string::npos) << message;
  EXPECT_NE(message.find("83886080 bytes are in use"), std::string::npos) << message;
  EXPECT_NE(message.find("at most 104857600"), std::string::npos) << message;
  // Cached memory of another size makes way.
  for (void* part : parts) gpu().deallocate(part, kPart);
  void* const large = gpu().allocate(size_t{90} << 20);
  gpu().deallocate(large, size_t{90} << 20);
  EXPECT_THROW(gpu().allocate(size_t{1} << 60), MemoryError);
  EXPECT_THROW(gpu().allocate(~size_t{0}), MemoryError);
  gpu().empty_cache();
  EXPECT_EQ(gpu().memory_stats().bytes_in_use, before.bytes_in_use);
}

TEST(GpuMemory, IsNotReturnedWhileWorkIsPending) {
  const Ref<LoadedCode> code = load(long_kernel());
  gpu().empty_cache();
  {
    const Array<int64_t> x(std::vector<int64_t>(size_t{9} << 20, 1));
    Program program;
    program.add(code, 16 * 500, {x.address()}, {kMaxIterations});
    program.run();
    gpu().flush();
  }
  gpu().empty_cache();
  EXPECT_EQ(gpu().memory_stats().cached_bytes, 0);
}

}  // namespace
}  // namespace lucid
