#include "base/small_vector.h"

#include <gtest/gtest.h>

#include <list>
#include <random>
#include <vector>

namespace lucid {
namespace {

using Vector = SmallVector<int64_t, 3>;

Vector counting(size_t size) {
  Vector vector;
  for (size_t i = 0; i < size; ++i) vector.push_back(static_cast<int64_t>(i));
  return vector;
}

bool lives_inside(const Vector& vector) {
  const auto* const object = reinterpret_cast<const char*>(&vector);
  const auto* const data = reinterpret_cast<const char*>(vector.data());
  return data >= object && data < object + sizeof vector;
}

// Up to 3 elements are stored in the object, 4 and 9 on the heap.
class SmallVectorOfSize : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, SmallVectorOfSize, testing::Values(0, 1, 3, 4, 9));

TEST_P(SmallVectorOfSize, CopiesAreIndependent) {
  const Vector original = counting(GetParam());
  Vector copy(original);
  EXPECT_EQ(copy, original);
  EXPECT_EQ(lives_inside(copy), GetParam() <= 3);
  copy.push_back(77);
  EXPECT_EQ(original, counting(GetParam()));
  EXPECT_EQ(copy.size(), GetParam() + 1);
  EXPECT_FALSE(copy == original);
}

TEST_P(SmallVectorOfSize, MovingLeavesAnEmptyUsableVector) {
  Vector source = counting(GetParam());
  Vector target(std::move(source));
  EXPECT_EQ(target, counting(GetParam()));
  EXPECT_TRUE(source.empty());
  source.push_back(5);
  EXPECT_EQ(source, (Vector{5}));
  EXPECT_EQ(target, counting(GetParam()));
}

TEST_P(SmallVectorOfSize, AssignmentReplacesAnySize) {
  for (size_t other : {0u, 2u, 3u, 4u, 20u}) {
    Vector copied = counting(other);
    copied = counting(GetParam());
    EXPECT_EQ(copied, counting(GetParam()));
    const Vector value = counting(GetParam());
    copied = counting(other);
    copied = value;
    EXPECT_EQ(copied, value);
    Vector moved = counting(other);
    Vector source = counting(GetParam());
    moved = std::move(source);
    EXPECT_EQ(moved, value);
    EXPECT_TRUE(source.empty());
  }
}

TEST_P(SmallVectorOfSize, SurvivesSelfAssignment) {
  Vector vector = counting(GetParam());
  Vector& same = vector;
  vector = same;
  EXPECT_EQ(vector, counting(GetParam()));
  vector = std::move(same);
  EXPECT_EQ(vector, counting(GetParam()));
}

TEST(SmallVector, GrowsBeyondItsInlineCapacity) {
  const Vector vector = counting(1000);
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(vector[i], static_cast<int64_t>(i));
  EXPECT_EQ(vector.front(), 0);
  EXPECT_EQ(vector.back(), 999);
  EXPECT_EQ(vector.rank(), 1000);
}

TEST(SmallVector, CanPushItsOwnElement) {
  Vector vector = counting(3);
  vector.push_back(vector[2]);
  EXPECT_EQ(vector, (Vector{0, 1, 2, 2}));
}

TEST(SmallVector, IsConstructedFromRangesAndSpans) {
  const std::list<int> list = {4, 5, 6, 7};
  EXPECT_EQ(Vector(list.begin(), list.end()), (Vector{4, 5, 6, 7}));
  const std::vector<int64_t> values = {1, 2};
  EXPECT_EQ(Vector(std::span<const int64_t>(values)), (Vector{1, 2}));
  EXPECT_EQ(Vector(4, 9), (Vector{9, 9, 9, 9}));
  const std::span<const int64_t> view = Vector{1, 2, 3};
  EXPECT_EQ(view.size(), 3u);
}

TEST(SmallVector, ResizeFillsOnlyTheNewPart) {
  Vector vector = {1, 2};
  vector.resize(5, 8);
  EXPECT_EQ(vector, (Vector{1, 2, 8, 8, 8}));
  vector.resize(1);
  EXPECT_EQ(vector, (Vector{1}));
  vector.resize(2);
  EXPECT_EQ(vector, (Vector{1, 0}));
  vector.assign(2, 3);
  EXPECT_EQ(vector, (Vector{3, 3}));
}

TEST(SmallVector, BehavesLikeStdVectorUnderRandomEdits) {
  std::mt19937 random(11);
  Vector ours;
  std::vector<int64_t> theirs;
  for (int step = 0; step < 20000; ++step) {
    const auto value = static_cast<int64_t>(random());
    const size_t at = random() % (theirs.size() + 1);
    switch (random() % 5) {
      case 0:
        ours.push_back(value);
        theirs.push_back(value);
        break;
      case 1:
        ours.insert(at, value);
        theirs.insert(theirs.begin() + static_cast<std::ptrdiff_t>(at), value);
        break;
      case 2:
      case 3:
        if (at == theirs.size()) break;
        ours.erase(at);
        theirs.erase(theirs.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 4:
        if (theirs.empty()) break;
        ours.pop_back();
        theirs.pop_back();
        break;
    }
    ASSERT_TRUE(std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end())) << step;
  }
}

}  // namespace
}  // namespace lucid
