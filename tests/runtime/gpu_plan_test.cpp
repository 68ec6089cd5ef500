#include "runtime/gpu_plan.h"

#include <gtest/gtest.h>

// How plans are divided into submissions. No gpu is needed.
namespace lucid {
namespace {

PlanStep kernel(double seconds = 0, bool may_fail = false) {
  PlanStep step;
  step.launches.emplace_back();
  step.nanoseconds = seconds * 1e9;
  if (may_fail) step.launches[0].slots.push_back({.area = Slot::Area::kError});
  return step;
}

PlanStep host() {
  PlanStep step = kernel();
  step.host = [](void* const*) {};
  return step;
}

PlanStep packing() {
  PlanStep step = kernel(5);
  step.packs = 0;
  return step;
}

PlanStep checked() {
  PlanStep step = kernel();
  step.checks.push_back({0, "x"});
  return step;
}

/// The kernels of each list of commands.
std::vector<std::vector<size_t>> lists_of(std::vector<PlanStep> steps) {
  Plan plan;
  plan.steps = std::move(steps);
  std::vector<std::vector<size_t>> lists;
  for (const GpuPlan::Segment& segment : GpuPlan::segments_of(plan)) lists.push_back(segment.kernels);
  return lists;
}

using Lists = std::vector<std::vector<size_t>>;

TEST(GpuPlan, IsOneList) {
  EXPECT_EQ(lists_of({}), Lists{});
  EXPECT_EQ(lists_of({kernel(), kernel(0.1), kernel(0.2)}), (Lists{{0, 1, 2}}));
}

TEST(GpuPlan, EndsAListAfterHostFunctionsAndComparisons) {
  EXPECT_EQ(lists_of({kernel(), host(), kernel()}), (Lists{{0}, {2}}));
  EXPECT_EQ(lists_of({kernel(), checked(), kernel()}), (Lists{{0, 1}, {2}}));
}

TEST(GpuPlan, EndsAListAfterTheLastStepThatCanFail) {
  EXPECT_EQ(lists_of({kernel(), kernel(0, true), kernel(0, true), kernel()}), (Lists{{0, 1, 2}, {3}}));
}

TEST(GpuPlan, CutsLongLists) {
  EXPECT_EQ(lists_of({kernel(0.6), kernel(0.3), kernel(0.3), kernel(0.6)}), (Lists{{0, 1}, {2, 3}}));
  EXPECT_EQ(lists_of({kernel(5), kernel(5)}), (Lists{{0}, {1}}));
  EXPECT_EQ(lists_of({kernel(0.6), packing(), kernel(0.3)}), (Lists{{0, 2}}));
}

}  // namespace
}  // namespace lucid
