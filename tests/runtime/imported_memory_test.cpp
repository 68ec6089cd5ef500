#include "runtime/imported_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <vector>

#include "runtime/storage.h"

namespace lucid {
namespace {

TEST(AddressRanges, KeepsRangesApartThatOnlyTouch) {
  AddressRanges ranges;
  ranges.add(100, 200);
  ranges.add(200, 300);
  ranges.add(50, 100);
  EXPECT_EQ(ranges.joined(), 0u);
  for (uintptr_t begin : {200, 50, 100}) ranges.remove(begin);
  EXPECT_TRUE(ranges.empty());
}

TEST(AddressRanges, JoinsInAnyOrder) {
  std::vector<std::pair<uintptr_t, uintptr_t>> added = {{0, 10}, {5, 15}, {14, 20}, {2, 3}, {30, 40}, {35, 36}};
  std::sort(added.begin(), added.end());
  do {
    AddressRanges ranges;
    for (const auto& [begin, end] : added) ranges.add(begin, end);
    EXPECT_EQ(ranges.joined(), 2u);
    ranges.add(1, 39);
    EXPECT_EQ(ranges.joined(), 1u);
    ranges.remove(1);
    for (const auto& [begin, end] : added) ranges.remove(begin);
    EXPECT_EQ(ranges.joined(), 0u);
    EXPECT_TRUE(ranges.empty());
  } while (std::next_permutation(added.begin(), added.end()));
}

TEST(AddressRanges, ReportsEveryOverlapOfRandomRanges) {
  std::mt19937 random(7);
  AddressRanges ranges;
  std::vector<std::pair<uintptr_t, uintptr_t>> live;
  for (int step = 0; step < 20'000; ++step) {
    if (live.empty() || (live.size() < 12 && random() % 2 == 0)) {
      const uintptr_t begin = random() % 200;
      live.emplace_back(begin, begin + 1 + random() % 12);
      ranges.add(live.back().first, live.back().second);
    } else {
      const size_t gone = random() % live.size();
      ranges.remove(live[gone].first);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    bool overlap = false;
    for (size_t i = 0; i < live.size(); ++i)
      for (size_t k = 0; k < i; ++k) overlap |= live[i].first < live[k].second && live[k].first < live[i].second;
    ASSERT_TRUE(!overlap || ranges.joined() > 0);
    ASSERT_TRUE(live.size() > 1 || ranges.joined() == 0);
    ASSERT_EQ(live.empty(), ranges.empty());
  }
}

TEST(ImportedMemory, OverlapsOnlyWhileBothStoragesLive) {
  std::array<char, 64> memory{};
  const Ref<Storage> low = Storage::borrow(memory.data(), 32, nullptr);
  const Ref<Storage> high = Storage::borrow(memory.data() + 32, 32, nullptr);
  const Ref<Storage> empty = Storage::borrow(memory.data() + 8, 0, nullptr);
  EXPECT_FALSE(imports_may_overlap());
  Ref<Storage> middle = Storage::borrow(memory.data() + 16, 32, nullptr);
  EXPECT_TRUE(imports_may_overlap());
  middle = Storage::borrow(memory.data() + 31, 1, nullptr);
  EXPECT_TRUE(imports_may_overlap());
  middle.reset();
}

TEST(ImportedMemory, IsRemovedBeforeItIsReleased) {
  std::array<char, 64> memory{};
  bool overlaps = true;
  Ref<Storage> again;
  Ref<Storage> storage = Storage::borrow(memory.data(), 64, [&] {
    again = Storage::borrow(memory.data(), 64, nullptr);
    overlaps = imports_may_overlap();
  });
  storage.reset();
  EXPECT_FALSE(overlaps);
}

TEST(ImportedMemory, HasOneIdentityInAllMappingsOfAFile) {
  const int file = memfd_create("lucid", 0);
  ASSERT_EQ(ftruncate(file, 8192), 0);
  const auto map = [&](int mode) {
    return static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, mode, file, 0));
  };
  char *const one = map(MAP_SHARED), *const two = map(MAP_SHARED), *const own = map(MAP_PRIVATE);
  const auto borrow = [](char* data, size_t bytes) {
    const SharedMappingScope scope(data);
    return Storage::borrow(data, bytes, nullptr);
  };
  {
    const Ref<Storage> a = borrow(one, 4096), b = borrow(two + 4096, 4096), c = borrow(own, 8192);
    EXPECT_FALSE(imports_may_overlap());
    EXPECT_EQ(identity_of(b->data()) - identity_of(a->data()), 4096u);
    EXPECT_EQ(identity_of(own), reinterpret_cast<uintptr_t>(own));
    const Ref<Storage> d = borrow(two + 100, 8);
    EXPECT_TRUE(imports_may_overlap());
    EXPECT_EQ(identity_of(d->data()) - identity_of(a->data()), 100u);
  }
  EXPECT_FALSE(imports_may_overlap());
  {
    const SharedMappingScope unused(one);
  }
  EXPECT_EQ(identity_of(one), reinterpret_cast<uintptr_t>(one));
  for (char* mapped : {one, two, own}) munmap(mapped, 8192);
  close(file);
}

TEST(ImportedMemory, IsCountedByManyThreads) {
  std::vector<char> memory(4096);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 2'000; ++i) {
        const Ref<Storage> one = Storage::borrow(memory.data() + (i * 7 + t * 512) % 2048, 512, nullptr);
        const Ref<Storage> two = Storage::borrow(memory.data() + (i * 7 + t * 512) % 2048 + 100, 900, nullptr);
        EXPECT_TRUE(imports_may_overlap());
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(imports_may_overlap());
}

}  // namespace
}  // namespace lucid
