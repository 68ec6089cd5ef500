#include "runtime/allocator.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "runtime/unused_part.h"

namespace lucid {
namespace {

constexpr size_t kGiB = size_t{1} << 30;

// Around every boundary: of cache lines, size classes, small blocks and mapped blocks.
const std::vector<size_t> kSizes = {0,    1,    63,    64,    65,    512,     513,           1000,          4095,
                                    4096, 4097, 10000, 65536, 70001, 1 << 20, (2 << 20) - 1, (2 << 20) + 1, 5000000};

bool is_aligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % kAllocationAlignment == 0; }

std::string failure_of(size_t bytes) {
  try {
    deallocate(allocate(bytes), bytes);
  } catch (const MemoryError& error) {
    return error.what();
  }
  return "did not throw";
}

#ifdef LUCID_ADDRESS_SANITIZER
TEST(Allocator, TheSanitizerSeesAccessesPastTheRequestedBytes) {
  for (const size_t bytes : {size_t{5}, size_t{100}, size_t{4100}, size_t{70001}}) {
    auto* const data = static_cast<char*>(allocate(bytes));
    EXPECT_EQ(__asan_region_is_poisoned(data, bytes), nullptr) << bytes;
    EXPECT_TRUE(__asan_address_is_poisoned(data + bytes)) << bytes;
    deallocate(data, bytes);
    // The next one may get the same block.
    void* const larger = allocate(bytes + 11);
    EXPECT_EQ(__asan_region_is_poisoned(larger, bytes + 11), nullptr) << bytes;
    deallocate(larger, bytes + 11);
  }
}
#endif

TEST(Allocator, BlocksAreAlignedWritableAndDisjoint) {
  struct Held {
    unsigned char* data;
    size_t bytes;
    unsigned char mark;
  };
  std::vector<Held> held;
  unsigned char mark = 0;
  for (int round = 0; round < 3; ++round)
    for (size_t bytes : kSizes) {
      auto* const data = static_cast<unsigned char*>(allocate(bytes));
      ASSERT_NE(data, nullptr);
      ASSERT_TRUE(is_aligned(data)) << bytes;
      std::memset(data, ++mark, bytes);
      held.push_back({data, bytes, mark});
    }
  std::set<void*> distinct;
  for (const Held& block : held) {
    distinct.insert(block.data);
    for (size_t i = 0; i < block.bytes; ++i) ASSERT_EQ(block.data[i], block.mark);
  }
  EXPECT_EQ(distinct.size(), held.size());
  for (const Held& block : held) deallocate(block.data, block.bytes);
}

TEST(Allocator, ReusesFreedBlocks) {
  for (size_t bytes : kSizes) {
    void* const first = allocate(bytes);
    deallocate(first, bytes);
    void* const second = allocate(bytes);
    EXPECT_EQ(first, second) << bytes;
    deallocate(second, bytes);
  }
  deallocate(nullptr, 100);
}

TEST(Allocator, ReusesBlocksOfSimilarSize) {
  void* const first = allocate(1'000'000);
  deallocate(first, 1'000'000);
  void* const second = allocate(1'010'000);
  EXPECT_EQ(first, second);
  deallocate(second, 1'010'000);
}

TEST(Allocator, CountersReturnToTheirStartingValues) {
  empty_cache();
  const MemoryStats before = memory_stats();
  std::vector<void*> blocks;
  size_t asked = 0;
  for (size_t bytes : kSizes) {
    blocks.push_back(allocate(bytes));
    asked += bytes;
  }
  const MemoryStats during = memory_stats();
  const int64_t in_use = during.bytes_in_use - before.bytes_in_use;
  EXPECT_GE(in_use, static_cast<int64_t>(asked));
  EXPECT_LE(in_use, static_cast<int64_t>(asked + asked / 8 + 64 * kSizes.size()));
  EXPECT_GE(during.peak_bytes, during.bytes_in_use);
  EXPECT_EQ(during.allocations - before.allocations, kSizes.size());
  for (size_t i = 0; i < blocks.size(); ++i) deallocate(blocks[i], kSizes[i]);
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_GE(after.cached_bytes, in_use);
  EXPECT_GE(after.peak_bytes, during.bytes_in_use);
  empty_cache();
  EXPECT_LT(memory_stats().cached_bytes, after.cached_bytes - 5000000);
}

TEST(Allocator, ThePeakCanBeReset) {
  void* const block = allocate(50 << 20);
  deallocate(block, 50 << 20);
  EXPECT_GE(memory_stats().peak_bytes, 50 << 20);
  reset_peak_memory();
  EXPECT_EQ(memory_stats().peak_bytes, memory_stats().bytes_in_use);
  empty_cache();
}

TEST(Allocator, ThePeakSeesSmallBlocksToo) {
  reset_peak_memory();
  const int64_t before = memory_stats().bytes_in_use;
  std::vector<void*> blocks;
  for (int i = 0; i < 10000; ++i) blocks.push_back(allocate(256));
  for (void* block : blocks) deallocate(block, 256);
  EXPECT_GE(memory_stats().peak_bytes, before + 10000 * 256 - (64 << 10));
  EXPECT_EQ(memory_stats().bytes_in_use, before);
}

TEST(Allocator, TheCacheIsBounded) {
  std::vector<void*> blocks;
  const size_t bytes = kGiB / 2;
  // Never touched, so this uses address space but no memory.
  for (int i = 0; i < 12; ++i) blocks.push_back(allocate(bytes));
  for (void* block : blocks) deallocate(block, bytes);
  EXPECT_LE(memory_stats().cached_bytes, static_cast<int64_t>(4 * kGiB + (size_t{64} << 20)));
  empty_cache();
}

TEST(Allocator, AbsurdSizesFailAtOnceAndNameTheBytes) {
  EXPECT_EQ(failure_of(size_t{1} << 45).find("out of memory: cannot allocate 35184372088832 bytes (32768.0 GiB): "), 0u)
      << failure_of(size_t{1} << 45);
  for (int power = 46; power < 64; ++power)
    EXPECT_NE(failure_of(size_t{1} << power).find("out of memory"), std::string::npos) << power;
  EXPECT_NE(failure_of(~size_t{0}).find("out of memory"), std::string::npos);
}

TEST(Allocator, TheSumIsBoundedByTheMachineToo) {
  std::vector<void*> blocks;
  bool failed = false;
  // Never touched either; without a limit the system would grant all of it.
  for (int i = 0; i < 1 << 14 && !failed; ++i) {
    try {
      blocks.push_back(allocate(kGiB));
    } catch (const MemoryError&) {
      failed = true;
    }
  }
  EXPECT_TRUE(failed);
  for (void* block : blocks) deallocate(block, kGiB);
  empty_cache();
}

TEST(Allocator, FailsOnPurpose) {
  {
    const AllocationFailureScope scope(2);
    for (size_t bytes : {size_t{100}, size_t{100000}}) deallocate(allocate(bytes), bytes);
    EXPECT_EQ(failure_of(100), "out of memory: cannot allocate 100 bytes (0.0 GiB): a test makes allocations fail");
    EXPECT_THROW(allocate(100000), MemoryError);
  }
  deallocate(allocate(100), 100);
}

TEST(Allocator, ManyThreadsAllocateAndFreeEachOthersBlocks) {
  const MemoryStats before = memory_stats();
  struct Box {
    std::mutex mutex;
    std::vector<std::pair<unsigned char*, size_t>> blocks;
  };
  std::array<Box, 8> boxes;
  std::atomic<int> damaged{0};
  const auto free_one = [&](Box& box) {
    std::pair<unsigned char*, size_t> block{nullptr, 0};
    {
      const std::lock_guard lock(box.mutex);
      if (box.blocks.empty()) return false;
      block = box.blocks.back();
      box.blocks.pop_back();
    }
    const auto mark = static_cast<unsigned char>(block.second);
    damaged += block.first[0] != mark || block.first[block.second - 1] != mark;
    deallocate(block.first, block.second);
    return true;
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int step = 0; step < 4000; ++step) {
        Box& box = boxes[random() % boxes.size()];
        if (random() % 2) {
          const size_t bytes = 1 + random() % (random() % 16 ? 5000 : 200000);
          auto* const data = static_cast<unsigned char*>(allocate(bytes));
          data[0] = data[bytes - 1] = static_cast<unsigned char>(bytes);
          const std::lock_guard lock(box.mutex);
          box.blocks.emplace_back(data, bytes);
        } else {
          free_one(box);
        }
        if (step % 1000 == 999) {
          memory_stats();
          empty_cache();
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (Box& box : boxes)
    while (free_one(box)) {
    }
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(memory_stats().bytes_in_use, before.bytes_in_use);
}

TEST(Allocator, AThreadThatEndsReturnsItsLists) {
  std::set<void*> first;
  std::thread([&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(allocate(3000));
    for (void* block : blocks) deallocate(block, 3000);
    first.insert(blocks.begin(), blocks.end());
  }).join();
  const MemoryStats between = memory_stats();
  std::set<void*> second;
  std::thread([&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(allocate(3000));
    for (void* block : blocks) deallocate(block, 3000);
    second.insert(blocks.begin(), blocks.end());
  }).join();
  EXPECT_EQ(first, second);
  EXPECT_EQ(memory_stats().cached_bytes, between.cached_bytes);
}

/// Frees its block when the thread ends, after the allocator has returned the thread's lists.
struct FreedLate {
  void* block = nullptr;
  ~FreedLate() {
    deallocate(block, 100);
    deallocate(allocate(200), 200);
  }
};
thread_local FreedLate t_freed_late;

TEST(Allocator, BlocksMayBeFreedWhileTheThreadEnds) {
  const MemoryStats before = memory_stats();
  std::thread([] {
    t_freed_late.block = nullptr;  // constructed before the allocator's own object, so destroyed after it
    t_freed_late.block = allocate(100);
  }).join();
  EXPECT_EQ(memory_stats().bytes_in_use, before.bytes_in_use);
}

TEST(Allocator, WorksInAChildForkedWhileOthersAllocate) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      while (!stop) deallocate(allocate(100000), 100000);
    });
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (size_t bytes : kSizes) deallocate(allocate(bytes), bytes);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  for (std::thread& other : others) other.join();
}

class GuardScope {
 public:
  explicit GuardScope(GuardMode mode) { set_guard_mode(mode); }
  ~GuardScope() { set_guard_mode(GuardMode::kOff); }
};

/// Whether a child process crashes when it reads the byte.
bool is_forbidden(const volatile unsigned char* byte) {
  const pid_t child = fork();
  if (child == 0) {
    // Sanitizers handle the signal to report it; this test expects the default action.
    signal(SIGSEGV, SIG_DFL);
    const unsigned char value = *byte;
    _exit(value == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

TEST(GuardMode, TheByteAfterTheBlockIsForbidden) {
  const GuardScope scope(GuardMode::kGuardAfter);
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{12}, size_t{4096}, size_t{10000}}) {
    auto* const data = static_cast<unsigned char*>(allocate(bytes));
    std::memset(data, 1, bytes);
    EXPECT_TRUE(is_forbidden(data + bytes)) << bytes;
    if (bytes > 0) {
      EXPECT_FALSE(is_forbidden(data + bytes - 1)) << bytes;
    }
    deallocate(data, bytes);
  }
}

TEST(GuardMode, TheByteBeforeTheBlockIsForbidden) {
  const GuardScope scope(GuardMode::kGuardBefore);
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{12}, size_t{4096}, size_t{10000}}) {
    auto* const data = static_cast<unsigned char*>(allocate(bytes));
    EXPECT_TRUE(is_aligned(data));
    EXPECT_TRUE(is_forbidden(data - 1)) << bytes;
    if (bytes > 0) {
      EXPECT_FALSE(is_forbidden(data)) << bytes;
      EXPECT_EQ(data[0], 0xff);
    }
    deallocate(data, bytes);
  }
}

TEST(GuardMode, BlocksMayOutliveTheMode) {
  const MemoryStats before = memory_stats();
  void* const plain = allocate(100);
  set_guard_mode(GuardMode::kGuardAfter);
  void* const guarded = allocate(100);
  deallocate(plain, 100);
  set_guard_mode(GuardMode::kOff);
  void* const plain_again = allocate(100);
  EXPECT_TRUE(is_aligned(plain_again));
  deallocate(guarded, 100);
  deallocate(plain_again, 100);
  EXPECT_EQ(memory_stats().bytes_in_use, before.bytes_in_use);
}

}  // namespace
}  // namespace lucid
