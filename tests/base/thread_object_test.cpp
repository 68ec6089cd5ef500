#include "base/thread_object.h"

#include <gtest/gtest.h>

#include <thread>

namespace lucid {
namespace {

int created = 0, destroyed = 0;

struct CountedObject {
  CountedObject() { ++created; }
  ~CountedObject() { ++destroyed; }
  int value = 0;
};

struct UsesItLate {
  bool is_needed = false;
  // Runs after the destructors of what the thread created later.
  ~UsesItLate() { found = &ThreadObject<CountedObject>::get(); }
  static inline CountedObject* found = nullptr;
};

TEST(ThreadObject, MayBeUsedWhileItsThreadEnds) {
  EXPECT_EQ(ThreadObject<CountedObject>::find(), nullptr);
  std::thread([] {
    static thread_local UsesItLate late;
    late.is_needed = true;
    ThreadObject<CountedObject>::get().value = 7;
    EXPECT_EQ(ThreadObject<CountedObject>::get().value, 7);
    EXPECT_EQ(created, 1);
  }).join();
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(created, 2);
  ASSERT_NE(UsesItLate::found, nullptr);
  EXPECT_EQ(UsesItLate::found->value, 0);
  delete UsesItLate::found;
}

}  // namespace
}  // namespace lucid
