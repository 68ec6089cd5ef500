// Replaces operator new for the whole program, and tests that it fails when it should.

#include "failing_new.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "base/memory_reserve.h"

namespace lucid::testing {
namespace {

constexpr int64_t kNever = INT64_MAX;

std::atomic<int64_t> g_left{kNever};
std::atomic<bool> g_once{false};
std::atomic<bool> g_has_failed{false};

bool fails() {
  if (g_left.load(std::memory_order_relaxed) == kNever || MemoryReserve::is_held()) return false;
  // The reserve of commits covers a single failure only.
  if (CommitScope::is_active() && !g_once) return false;
  const int64_t left = g_left.fetch_sub(1);
  if (left > 0 || (left < 0 && g_once.load())) return false;
  g_has_failed = true;
  return true;
}

void* allocate(size_t bytes, size_t alignment) {
  for (;;) {
    const size_t padded = std::max((bytes + alignment - 1) / alignment * alignment, alignment);
    void* const data = fails() ? nullptr : std::aligned_alloc(alignment, padded);
    if (data) return data;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

FailingNew::FailingNew(int64_t successes, Mode mode) {
  g_has_failed = false;
  g_once = mode == Mode::kOnce;
  g_left = successes;
}

FailingNew::~FailingNew() { g_left = kNever; }

bool FailingNew::has_failed() const { return g_has_failed; }

namespace {

TEST(FailingNew, FailsOnce) {
  const FailingNew failing(1, FailingNew::Mode::kOnce);
  EXPECT_NO_THROW(std::make_unique<int>(1));
  EXPECT_FALSE(failing.has_failed());
  EXPECT_THROW(std::vector<int>(100), std::bad_alloc);
  EXPECT_TRUE(failing.has_failed());
  EXPECT_NO_THROW(std::make_unique<int>(1));
}

TEST(FailingNew, FailsFromThenOn) {
  const FailingNew failing(1, FailingNew::Mode::kFromThenOn);
  EXPECT_NO_THROW(std::make_unique<int>(1));
  EXPECT_THROW(std::make_unique<int>(1), std::bad_alloc);
  EXPECT_THROW(std::make_unique<int>(1), std::bad_alloc);
  EXPECT_EQ(new (std::nothrow) int, nullptr);
}

}  // namespace
}  // namespace lucid::testing

void* operator new(size_t bytes) { return lucid::testing::allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return lucid::testing::allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, size_t, std::align_val_t) noexcept { std::free(data); }
