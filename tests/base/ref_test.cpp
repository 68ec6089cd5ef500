#include "base/ref.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace lucid {
namespace {

struct Counted : RefCounted {
  explicit Counted(std::atomic<int>& alive_count) : alive(alive_count) { ++alive; }
  ~Counted() override { --alive; }
  std::atomic<int>& alive;
};
struct Derived : Counted {
  using Counted::Counted;
};

TEST(Ref, TheLastReferenceDestroysTheObject) {
  std::atomic<int> alive{0};
  Ref<Counted> first = make_ref<Counted>(alive);
  EXPECT_EQ(first->use_count(), 1u);
  Ref<Counted> second = first;
  EXPECT_EQ(first->use_count(), 2u);
  EXPECT_EQ(first, second);
  first.reset();
  EXPECT_FALSE(first);
  EXPECT_EQ(alive, 1);
  second = nullptr;
  EXPECT_EQ(alive, 0);
}

TEST(Ref, MovingAndSelfAssignmentKeepTheCount) {
  std::atomic<int> alive{0};
  Ref<Counted> ref = make_ref<Counted>(alive);
  Ref<Counted>& same = ref;
  ref = same;
  EXPECT_EQ(ref->use_count(), 1u);
  ref = std::move(same);
  EXPECT_EQ(ref->use_count(), 1u);
  Ref<Counted> moved(std::move(ref));
  EXPECT_FALSE(ref);
  EXPECT_EQ(moved->use_count(), 1u);
}

TEST(Ref, ConvertsToTheBaseAndDestroysTheDerived) {
  std::atomic<int> alive{0};
  Ref<Derived> derived = make_ref<Derived>(alive);
  Ref<Counted> copied = derived;
  Ref<RefCounted> moved = std::move(derived);
  EXPECT_EQ(copied->use_count(), 2u);
  copied.reset();
  moved.reset();
  EXPECT_EQ(alive, 0);
}

TEST(Ref, DetachedReferencesAreAdoptedBack) {
  std::atomic<int> alive{0};
  Counted* const raw = make_ref<Counted>(alive).detach();
  EXPECT_EQ(alive, 1);
  const Ref<Counted> adopted = Ref<Counted>::adopt(raw);
  EXPECT_EQ(adopted->use_count(), 1u);
}

TEST(Ref, ThreadsMayDropReferencesConcurrently) {
  std::atomic<int> alive{0};
  for (int round = 0; round < 200; ++round) {
    Ref<Counted> shared = make_ref<Counted>(alive);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([mine = shared]() mutable {
        for (int copies = 0; copies < 20; ++copies) Ref<Counted> another = mine;
        mine.reset();
      });
    shared.reset();
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(alive, 0);
  }
}

}  // namespace
}  // namespace lucid
