#include "compiler/barriers.h"

#include <gtest/gtest.h>

#include "draft.h"

namespace lucid {
namespace {

/// The names of the steps of a finished draft; those that need a barrier begin with "|".
std::vector<std::string> steps_of(const std::string& graph, std::vector<PlanUpdate> updates = {}) {
  PlanDraft draft = test::draft_of(graph, std::move(updates));
  run_plan_passes(draft, plan_passes(OutputMemory::kNew, draft.target));
  const std::vector<bool> barriers = barriers_of(draft);
  std::vector<std::string> names;
  for (size_t i = 0; i < barriers.size(); ++i)
    names.push_back((barriers[i] ? "|" : "") + draft.schedule.steps[i].kernel->name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Barriers, SeparateAStepFromWhatItReads) {
  EXPECT_EQ(steps_of(R"(graph f(%0: f32[8,8]@gpu:0 input) -> (%2) {
    %1: f32[8,1]@gpu:0 = sum(%0) {dim=[1], keepdim=true}
    %2: f32[1,1]@gpu:0 = amax(%1) {dim=[0], keepdim=true}
  })"),
            (Names{"sum", "|amax"}));
}

TEST(Barriers, AreNotNeededBetweenIndependentSteps) {
  EXPECT_EQ(steps_of(R"(graph f(%0: f32[8,8]@gpu:0 input, %1: f32[5,8]@gpu:0 input) -> (%4) {
    %2: f32[8]@gpu:0 = sum(%0) {dim=[1]}
    %3: f32[8]@gpu:0 = amax(%1) {dim=[0]}
    %4: f32[]@gpu:0 = dot(%2, %3)
  })")
                .size(),
            3u);
  const Names names = steps_of(R"(graph f(%0: f32[8,8]@gpu:0 input, %1: f32[5,8]@gpu:0 input) -> (%2, %3) {
    %2: f32[8]@gpu:0 = sum(%0) {dim=[1]}
    %3: f32[8]@gpu:0 = amax(%1) {dim=[0]}
  })");
  EXPECT_EQ(names, (Names{"sum", "amax_columns"}));
}

TEST(Barriers, SeparateAWriteToDonatedMemoryFromReads) {
  // The second step writes the input in place, which the first reads.
  const Names names = steps_of(R"(graph f(%0: f32[8,8]@gpu:0 input, %1: f32[8,8]@gpu:0 input) -> (%2, %3) {
    %2: f32[8]@gpu:0 = sum(%0) {dim=[1]}
    %3: f32[8,8]@gpu:0 = add(%0, %1)
  })",
                               {{0, 1}});
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[1].front(), '|');
}

TEST(Barriers, StepsAreNotFusedOnAGpu) {
  const auto passes = plan_passes(OutputMemory::kNew, test::kGpuTraits);
  for (const PlanPass& pass : passes) EXPECT_NE(pass.name, kFuseSteps);
}

}  // namespace
}  // namespace lucid
