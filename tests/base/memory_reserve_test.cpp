#include "base/memory_reserve.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <thread>

#include "base/error.h"

namespace lucid {
namespace {

constexpr size_t kMega = size_t{1} << 20;

/// Calls the new handler, as operator new does when memory is exhausted. Returns false if operator new would throw.
bool handle_failed_new() {
  try {
    std::get_new_handler()();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

TEST(MemoryReserve, IsReleasedInParts) {
  EXPECT_FALSE(handle_failed_new());
  {
    const MemoryReserve reserve(5 * kMega, "test");
    EXPECT_TRUE(MemoryReserve::is_held());
    EXPECT_TRUE(handle_failed_new());
    EXPECT_EQ(reserve.bytes(), 3 * kMega);
    EXPECT_TRUE(handle_failed_new());
    EXPECT_TRUE(handle_failed_new());
    EXPECT_EQ(reserve.bytes(), 0u);
    EXPECT_FALSE(handle_failed_new());
  }
  EXPECT_FALSE(MemoryReserve::is_held());
  EXPECT_FALSE(handle_failed_new());
}

TEST(MemoryReserve, BelongsToItsThread) {
  const MemoryReserve reserve(4 * kMega, "test");
  std::thread([] { EXPECT_FALSE(handle_failed_new()); }).join();
  EXPECT_EQ(reserve.bytes(), 4 * kMega);
}

TEST(MemoryReserve, ErrorsNameThePurpose) {
  try {
    const MemoryReserve reserve(size_t{1} << 60, "compiling a kernel");
    FAIL();
  } catch (const MemoryError& error) {
    EXPECT_NE(std::string(error.what()).find("compiling a kernel: out of memory"), std::string::npos);
  }
  EXPECT_FALSE(MemoryReserve::is_held());
}

// The malloc of sanitizers terminates the process instead of failing.
#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

TEST(MemoryReserve, IsReleasedWhenMallocFails) {
  const size_t much = size_t{1} << 60;
  const auto empties = [](auto allocate) {
    const MemoryReserve reserve(4 * kMega, "test");
    void* volatile nothing = allocate();  // volatile, or the compiler would assume that it succeeds
    return !nothing && reserve.bytes() == 0;
  };
  EXPECT_TRUE(empties([&] { return std::malloc(much); }));
  EXPECT_TRUE(empties([&] { return std::calloc(much, 1); }));
  void* const block = std::malloc(16);
  EXPECT_TRUE(empties([&] { return std::realloc(block, much); }));
  std::free(block);
}

#endif

TEST(CommitScope, CoversOneFailureAtATime) {
  EXPECT_FALSE(handle_failed_new());
  for (int i = 0; i < 3; ++i) {
    const CommitScope commit;
    EXPECT_TRUE(CommitScope::is_active());
    EXPECT_TRUE(handle_failed_new());
    EXPECT_FALSE(handle_failed_new());
  }
  EXPECT_FALSE(CommitScope::is_active());
}

TEST(CommitScope, OtherThreadsUseWhatOneThreadReleased) {
  const CommitScope commit;
  std::thread([] {
    const CommitScope other;
    EXPECT_TRUE(handle_failed_new());
  }).join();
  EXPECT_TRUE(handle_failed_new());
  EXPECT_FALSE(handle_failed_new());
}

}  // namespace
}  // namespace lucid
