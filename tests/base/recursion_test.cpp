#include <gtest/gtest.h>
#include <pthread.h>

#include "base/stack.h"

namespace lucid {
namespace {

/// Recurses until the stack is low and returns the depth. Not inlined, and each level uses some stack.
[[gnu::noinline]] int descend(int depth) {
  volatile char used[256];
  used[0] = static_cast<char>(depth);
  check_stack("descend");
  return depth < 0 ? 0 : descend(depth + 1) + used[0] * 0;
}

void* run(void* caught) {
  try {
    descend(0);
  } catch (const RecursionError& error) {
    *static_cast<bool*>(caught) = error.error_class() == ErrorClass::kRuntime;
  }
  return nullptr;
}

TEST(CheckStack, ARecursionEndsBeforeTheStackDoes) {
  for (const size_t size : {size_t{128} << 10, size_t{512} << 10, size_t{8} << 20}) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, size), 0);
    bool caught = false;
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &caught), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    EXPECT_TRUE(caught) << size;
  }
}

TEST(CheckStack, ACallThatDoesNotRecurseIsAllowed) { EXPECT_FALSE(stack_is_low()); }

}  // namespace
}  // namespace lucid
