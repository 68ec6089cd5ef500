#include "base/stack.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <functional>

#include "base/cancellation.h"
#include "base/error.h"

namespace lucid {
namespace {

/// Runs `body` on a thread with a stack of `bytes`.
void on_stack_of(size_t bytes, const std::function<void()>& body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto start = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, const_cast<std::function<void()>*>(&body)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Stack, KnowsHowMuchIsLeft) {
  EXPECT_GT(stack_left(), size_t{64} << 10);
  on_stack_of(size_t{256} << 10, [] {
    const size_t left = stack_left();
    EXPECT_GT(left, size_t{128} << 10);
    EXPECT_LT(left, size_t{16} << 20);  // a larger stack may be reused
    volatile char used[64 << 10];
    used[0] = 1;
    const std::function<size_t()> deeper = [] { return stack_left(); };
    EXPECT_LE(deeper(), left);
    EXPECT_EQ(used[0], 1);
  });
}

TEST(Stack, LargeStacksAreUsedInPlace) {
  const pthread_t here = pthread_self();
  with_large_stack([&] { EXPECT_TRUE(pthread_equal(here, pthread_self())); });
}

TEST(Stack, WorkMovesFromSmallStacks) {
  on_stack_of(size_t{64} << 10, [] {
    const pthread_t here = pthread_self();
    int runs = 0;
    with_large_stack([&] {
      ++runs;
      EXPECT_FALSE(pthread_equal(here, pthread_self()));
      EXPECT_GE(stack_left(), kLargeStack);
      const pthread_t there = pthread_self();
      with_large_stack([&] { EXPECT_TRUE(pthread_equal(there, pthread_self())); });
    });
    EXPECT_EQ(runs, 1);
  });
}

TEST(Stack, ExceptionsAreRethrown) {
  on_stack_of(size_t{64} << 10, [] {
    EXPECT_THROW(with_large_stack([] { throw ValueError("{} is wrong", 1); }), ValueError);
    const std::atomic<bool> stop = true;
    const CancellationScope scope(stop);
    EXPECT_THROW(with_large_stack([] { check_cancelled(); }), Cancelled);
  });
}

}  // namespace
}  // namespace lucid
