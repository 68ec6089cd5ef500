#include "compiler/plan_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "draft.h"

namespace lucid {
namespace {

constexpr const char* kGraph = R"(graph f(%0: f32[64] input) -> (%4) {
  %1: f32[64] = cumsum(%0) {dim=0}
  %2: f32[64] = tanh(%1)
  %3: f32[64] = cumsum(%2) {dim=0}
  %4: f32[64] = cumsum(%3) {dim=0}
}
)";

std::vector<std::string> names_of(const PassReport& report) {
  std::vector<std::string> names;
  for (const PassRun& run : report.runs) names.push_back(run.name);
  return names;
}

std::vector<std::string> names_without(const std::string& disabled) {
  Options changed = options();
  changed.disable_passes = disabled;
  const OptionsScope scope(changed);
  PlanDraft draft = test::draft_of(kGraph);
  return names_of(run_plan_passes(draft, plan_passes(OutputMemory::kNew)));
}

TEST(PlanPipeline, RunsThePassesInOrderAndReportsEach) {
  PlanDraft draft = test::draft_of(kGraph);
  const PassReport report = run_plan_passes(draft, plan_passes(OutputMemory::kNew));
  EXPECT_EQ(names_of(report),
            (std::vector<std::string>{"CommonSubexpressionPass", "AssignLayouts", "DropEmptyWork", "Rematerialize",
                                      "PlaceInResults", "WriteKernels", "FuseSteps", "HorizontalFusion", "PlaceChecks",
                                      "DonateBuffers", "ReuseMemory", "PlaceMemory"}));
  for (const PassRun& run : report.runs) EXPECT_GT(run.microseconds, 0) << run.name;
  EXPECT_EQ(report.runs[5].nodes_before, 4u);
  EXPECT_EQ(report.runs[5].counted, "steps");
  EXPECT_TRUE(report.runs[6].changed);
  EXPECT_EQ(report.runs[6].nodes_after, 1u);
  EXPECT_FALSE(report.runs[7].changed);
}

TEST(PlanPipeline, OutputsInTheCallersMemoryAreNotMoved) {
  std::vector<std::string> names;
  for (const PlanPass& pass : plan_passes(OutputMemory::kCallers)) names.emplace_back(pass.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"CommonSubexpressionPass", "AssignLayouts", "DropEmptyWork", "WriteKernels",
                                      "PlaceChecks", "DonateBuffers", "ReuseMemory", "PlaceMemory"}));
}

TEST(PlanPipeline, PassesAreDisabledByName) {
  // LUCID_DISABLE_PASSES is checked against the list of the pipeline, in which each target has its passes.
  std::set<std::string_view> listed;
  for (const TargetTraits& target : {cpu_traits(), test::kGpuTraits}) {
    size_t next = 0;
    for (const PlanPass& pass : plan_passes(OutputMemory::kNew, target)) {
      const auto* const found = std::find(std::begin(kPlanPasses) + next, std::end(kPlanPasses), pass.name);
      if (found == std::end(kPlanPasses)) continue;
      next = static_cast<size_t>(found - std::begin(kPlanPasses)) + 1;
      listed.insert(pass.name);
    }
  }
  EXPECT_EQ(listed.size(), std::size(kPlanPasses));
  std::string all;
  for (std::string_view name : kPlanPasses) all += std::string(name) + ",";
  const std::vector<std::string> required = {
      "CommonSubexpressionPass", "AssignLayouts", "DropEmptyWork", "WriteKernels", "PlaceChecks", "PlaceMemory"};
  EXPECT_EQ(names_without(all), required);
}

TEST(PlanPipeline, AliasesDisableTheSamePasses) {
  const std::vector<std::string> names = names_without("Recompute,LaunchBeside,OverwriteState");
  EXPECT_EQ(names, names_without("Rematerialize,HorizontalFusion,DonateBuffers"));
  EXPECT_EQ(names.size() + 3, plan_passes(OutputMemory::kNew).size());
}

TEST(PlanPipeline, RequiredPassesCannotBeDisabled) {
  EXPECT_EQ(names_without("AssignLayouts,WriteKernels,PlaceMemory"), names_without(""));
}

TEST(PlanPipeline, LogsWhatPassesChange) {
  Options changed = options();
  changed.log = "passes";
  const OptionsScope scope(changed);
  std::vector<std::string> logged;
  const LogScope sink([&](std::string_view topic, std::string_view text) {
    EXPECT_EQ(topic, "passes");
    logged.emplace_back(text);
  });
  PlanDraft draft = test::draft_of(kGraph);
  run_plan_passes(draft, test::passes_without({kFuseSteps, kPlaceInResults}));
  EXPECT_EQ(logged, std::vector<std::string>{"ReuseMemory on f:\n+ reuse %1 for %2\n"});
}

bool lose_a_step(PlanDraft& draft) {
  draft.schedule.steps.pop_back();
  return true;
}

TEST(PlanPipeline, NamesThePassThatBreaksAScheduleIfVerifying) {
  PlanPassList passes = test::passes_without({kFuseSteps});
  const auto written = std::ranges::find(passes, "WriteKernels", &PlanPass::name);
  passes.insert(written + 1, {"LoseAStep", lose_a_step});
  Options changed = options();
  changed.verify_passes = true;
  {
    const OptionsScope scope(changed);
    PlanDraft draft = test::draft_of(kGraph);
    try {
      run_plan_passes(draft, passes);
      ADD_FAILURE() << "did not throw";
    } catch (const InternalError& error) {
      EXPECT_TRUE(std::string(error.what())
                      .starts_with("after LoseAStep: schedule of f is malformed: output %4 is not written\n"))
          << error.what();
    }
  }
  changed.verify_passes = false;
  const OptionsScope scope(changed);
  PlanDraft draft = test::draft_of(kGraph);
  EXPECT_NO_THROW(run_plan_passes(draft, passes));
}

TEST(PlanPipeline, TestsVerify) { EXPECT_TRUE(options().verify_passes); }

}  // namespace
}  // namespace lucid
