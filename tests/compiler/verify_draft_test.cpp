#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/options.h"
#include "draft.h"

// Each test breaks a correct schedule in one way and expects the message that describes the error.
namespace lucid {
namespace {

using Kind = BufferUse::Kind;
using Damage = std::function<void(PlanDraft&)>;

// Four steps: %1 is live until the last one, %2 and %3 in turn.
constexpr const char* kChain = R"(graph f(%0: f32[64] input) -> (%4) {
  %1: f32[64] = cumsum(%0) {dim=0}
  %2: f32[64] = flip(%1) {dims=[0]}
  %3: f32[64] = cumsum(%2) {dim=0}
  %4: f32[64] = add(%3, %1)
}
)";

PlanDraft placed(const char* text, const std::vector<std::string_view>& without = {kFuseSteps, kPlaceInResults},
                 std::vector<PlanUpdate> updates = {}) {
  PlanDraft draft = test::draft_of(text, std::move(updates));
  run_plan_passes(draft, test::passes_without(without));
  return draft;
}

std::string message_of(const PlanDraft& draft) {
  try {
    verify(draft);
  } catch (const InternalError& error) {
    const std::string text = error.what();
    const std::string head = "schedule of f is malformed: ";
    const size_t at = text.find(head);
    return at == std::string::npos ? text : text.substr(at + head.size(), text.find('\n', at) - at - head.size());
  }
  return "verifies";
}

std::string after(PlanDraft draft, const Damage& damage) {
  EXPECT_EQ(message_of(draft), "verifies");
  damage(draft);
  return message_of(draft);
}

std::string after(const Damage& damage) { return after(placed(kChain), damage); }

MemoryKey value(ValueId id) { return {Kind::kValue, id}; }

/// A step's use of a value.
BufferUse& use_of(KernelStep& step, ValueId id) {
  return *std::ranges::find_if(step.buffers, [&](const BufferUse& use) { return key_of(use) == value(id); });
}

TEST(VerifyDraft, AcceptsWhatThePassesProduce) {
  ASSERT_EQ(placed(kChain).schedule.steps.size(), 4u);
  EXPECT_EQ(message_of(placed(kChain, {})), "verifies");
}

TEST(VerifyDraft, EveryValueHasALayoutWithinItsMemory) {
  EXPECT_EQ(after([](PlanDraft& draft) { draft.schedule.layouts.erase(3); }), "%3 has no layout");
  EXPECT_EQ(after([](PlanDraft& draft) { draft.schedule.layouts.at(3).storage = 99; }),
            "%3 is stored in %99, which does not own memory");
  EXPECT_EQ(after([](PlanDraft& draft) { draft.schedule.layouts.at(3).geometry.offset = 1; }),
            "%3 extends past the memory of %3");
  EXPECT_EQ(after([](PlanDraft& draft) { draft.schedule.layouts.at(3).geometry.sizes = {8, 8}; }),
            "%3 has a layout with a different shape");
}

TEST(VerifyDraft, ValuesThatShareMemoryAreNotLiveAtTheSameTime) {
  EXPECT_EQ(after([](PlanDraft& draft) { draft.schedule.layouts.at(2).storage = 1; }),
            "%1 and %2 are both stored in %1 and are live at the same time");
}

TEST(VerifyDraft, WhatIsReadWasWrittenBefore) {
  EXPECT_EQ(after([](PlanDraft& draft) { std::swap(draft.schedule.steps[0], draft.schedule.steps[1]); }),
            "step 0 (flip) reads %1, which nothing has written");
  EXPECT_EQ(after([](PlanDraft& draft) { draft.schedule.steps.erase(draft.schedule.steps.begin() + 1); }),
            "step 1 (cumsum) reads %2, which nothing has written");
}

TEST(VerifyDraft, StagesOfAKernelReadWhatEarlierOnesWrote) {
  const PlanDraft fused = placed(kChain, {});
  ASSERT_EQ(fused.schedule.steps.size(), 1u);
  EXPECT_EQ(after(fused,
                  [](PlanDraft& draft) {
                    KernelStep& step = draft.schedule.steps[0];
                    loop::Kernel reversed = *step.kernel;
                    std::reverse(reversed.calls.begin(), reversed.calls.end());
                    step.kernel = std::make_shared<const loop::Kernel>(std::move(reversed));
                  })
                .substr(0, 12),
            "step 0 (cums");
}

TEST(VerifyDraft, OutputsAreWrittenAndInputsAreNot) {
  EXPECT_EQ(after([](PlanDraft& draft) { draft.schedule.steps.pop_back(); }), "output %4 is not written");
  EXPECT_EQ(after([](PlanDraft& draft) { use_of(draft.schedule.steps[0], 1).index = 0; }),
            "step 0 (cumsum) writes input %0");
}

TEST(VerifyDraft, StepsPassMemoryThatExists) {
  EXPECT_EQ(after([](PlanDraft& draft) { use_of(draft.schedule.steps[1], 1).index = 99; }),
            "step 1 (flip) passes %99, which does not exist");
  EXPECT_EQ(after([](PlanDraft& draft) { use_of(draft.schedule.steps[1], 1) = {.kind = Kind::kScratch, .index = 7}; }),
            "step 1 (flip) passes scratch7, which does not exist");
  EXPECT_EQ(after([](PlanDraft& draft) { use_of(draft.schedule.steps[1], 1).byte_offset = 260; }),
            "step 1 (flip) passes %1+260, which starts past the end of its 256 bytes");
  EXPECT_EQ(after([](PlanDraft& draft) { use_of(draft.schedule.steps[1], 1).first_stage = 9; }),
            "step 1 (flip) has its last use of %1 before the first");
}

TEST(VerifyDraft, StepsPassTheArgumentsOfTheirKernels) {
  EXPECT_EQ(after([](PlanDraft& draft) { draft.schedule.steps[1].buffers.pop_back(); }),
            "step 1 (flip) passes 1 buffers to a kernel with 2");
  EXPECT_NE(
      after([](PlanDraft& draft) { draft.schedule.steps[1].params.push_back(0); }).find("params to a kernel with"),
      std::string::npos);
}

TEST(VerifyDraft, LaunchesOfAStepDoNotDependOnEachOther) {
  const auto join = [](PlanDraft& draft, size_t first, size_t second) {
    std::vector<KernelStep>& steps = draft.schedule.steps;
    steps[first].more_launches.push_back({steps[second].buffers, steps[second].params, steps[second].items});
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(second));
  };
  constexpr const char* kTwice = R"(graph f(%0: f32[64] input) -> (%2) {
  %1: f32[64] = cumsum(%0) {dim=0}
  %2: f32[64] = cumsum(%1) {dim=0}
}
)";
  EXPECT_EQ(after(placed(kTwice, {kFuseSteps, kPlaceInResults}), [&](PlanDraft& draft) { join(draft, 0, 1); }),
            "step 0 (cumsum) has launches that depend on each other: one writes %1, which another uses");
  EXPECT_EQ(after(placed(kTwice, {kFuseSteps, kPlaceInResults}),
                  [&](PlanDraft& draft) {
                    use_of(draft.schedule.steps[1], 1).index = 0;
                    use_of(draft.schedule.steps[1], 2).index = 1;
                    join(draft, 0, 1);
                  }),
            "step 0 (cumsum) has launches that depend on each other: one writes %1, which another uses");
}

TEST(VerifyDraft, StagesOfAKernelUseOnlyTheirTiles) {
  constexpr const char* kRows = R"(graph f(%0: f32[512,1000] input) -> (%1, %2) {
  %1: f32[512,1] = amax(%0) {dim=[1], keepdim=true}
  %2: f32[512,1000] = sub(%0, %1)
}
)";
  const PlanDraft fused = placed(kRows, {});
  ASSERT_EQ(fused.schedule.steps.size(), 1u);
  ASSERT_GT(fused.schedule.steps[0].items, 1);
  const std::string name = fused.schedule.steps[0].kernel->name;
  EXPECT_EQ(after(fused, [](PlanDraft& draft) { use_of(draft.schedule.steps[0], 1).tile = {}; }),
            "step 0 (" + name + ") has stages that share %1 across tiles");
}

constexpr const char* kProduct = R"(graph f(%0: f32[64,64] input, %1: f32[64,64] input) -> (%3) {
  %2: f32[64,64] = transpose(%1) {dim0=0, dim1=1}
  %3: f32[64,64] = matmul(%0, %2)
}
)";

TEST(VerifyDraft, PackedFormsAreOfInputsThatDoNotChange) {
  const PlanDraft product = placed(kProduct, {});
  const auto packing =
      std::ranges::find_if(product.schedule.steps, [](const auto& step) { return step.packs.has_value(); });
  ASSERT_NE(packing, product.schedule.steps.end());
  const auto index = static_cast<size_t>(packing - product.schedule.steps.begin());
  const std::string head = fmt::format("step {} ({}) packs %{}", index, packing->kernel->name, *packing->packs);
  EXPECT_EQ(after(product, [&](PlanDraft& draft) { draft.transient.insert(*draft.schedule.steps[index].packs); }),
            head + ", whose contents change before the next run");
  EXPECT_EQ(after(product,
                  [&](PlanDraft& draft) {
                    KernelStep& step = draft.schedule.steps[index];
                    step.more_launches.push_back({step.buffers, step.params, step.items});
                    step.more_launches[0].buffers.back() = draft.schedule.new_scratch(64 * 64, Dtype::kF32);
                  }),
            head + " and does other work");
}

TEST(VerifyDraft, BuffersThatAreLiveTogetherDoNotOverlap) {
  EXPECT_EQ(after([](PlanDraft& draft) { draft.slots.slots.at(value(2)) = draft.slots.slots.at(value(1)); }),
            "%1 and %2 overlap and are live at the same time");
  EXPECT_EQ(after([](PlanDraft& draft) {
              Slot& slot = draft.slots.slots.at(value(2));
              slot = draft.slots.slots.at(value(1));
              slot.byte_offset += 64;
              draft.slots.arena_bytes += 256;
            }),
            "%1 and %2 overlap and are live at the same time");
}

TEST(VerifyDraft, BuffersAreWithinTheirAreas) {
  EXPECT_EQ(after([](PlanDraft& draft) { draft.slots.slots.erase(value(2)); }), "%2 has no slot");
  EXPECT_EQ(after([](PlanDraft& draft) { draft.slots.arena_bytes = 128; }), "%1 extends past the arena");
  EXPECT_EQ(after([](PlanDraft& draft) {
              draft.slots.slots.at(value(3)).byte_offset += 32;
              draft.slots.arena_bytes += 32;
            }),
            "%3 is not aligned");
  EXPECT_EQ(after([](PlanDraft& draft) { draft.slots.slots.at(value(2)) = {Slot::Area::kInput, 0, 0}; }),
            "%2 has the slot of input 0");
  EXPECT_EQ(after([](PlanDraft& draft) { draft.slots.slots.at(value(2)) = {Slot::Area::kError, 0, 0}; }),
            "%2 has the slot of the error word");
  EXPECT_EQ(after([](PlanDraft& draft) { draft.slots.slots.at(value(2)) = {Slot::Area::kPacked, 0, 0}; }),
            "%2 does not fit into packed form 0");
  EXPECT_EQ(after([](PlanDraft& draft) { draft.slots.slots.at(value(4)) = {Slot::Area::kArena, 0, 0}; }),
            "%4 belongs to the caller, but is in the arena");
}

TEST(VerifyDraft, ResultsLendOnlyMemoryThatIsFree) {
  const auto lend = [](PlanDraft& draft, ValueId id) {
    draft.outputs_as_scratch = true;
    draft.slots.slots.at(value(id)) = {Slot::Area::kOutput, 0, 0};
  };
  EXPECT_EQ(after([&](PlanDraft& draft) { lend(draft, 2); }), "verifies");
  EXPECT_EQ(after([&](PlanDraft& draft) {
              lend(draft, 2);
              draft.outputs_as_scratch = false;
            }),
            "%2 is stored in %4, whose memory is not free");
  EXPECT_EQ(after([&](PlanDraft& draft) {
              lend(draft, 2);
              draft.slots.slots.at(value(2)).byte_offset = 64;
            }),
            "%2 extends past %4");
  // %3 may be updated in place to %4; %1 is live at the same time.
  EXPECT_EQ(after([&](PlanDraft& draft) {
              lend(draft, 2);
              lend(draft, 1);
            }),
            "%1 and %2 overlap and are live at the same time");
}

TEST(VerifyDraft, MemoryThatMustSurviveAFailedCheckIsNotWrittenBefore) {
  constexpr const char* kChecked = R"(graph f(%0: f32[64] input, %1: i64[64] input) -> (%4) {
  %2: f32[64] = cumsum(%0) {dim=0}
  %3: f32[64] = gather(%2, %1) {dim=0}
  %4: f32[64] = cumsum(%3) {dim=0}
}
)";
  const PlanDraft checked = placed(kChecked);
  ASSERT_EQ(checked.schedule.steps.size(), 3u);
  EXPECT_EQ(after(checked,
                  [](PlanDraft& draft) {
                    draft.outputs_as_scratch = true;
                    draft.slots.slots.at(value(2)) = {Slot::Area::kOutput, 0, 0};
                  }),
            "%2 is stored in %4, but a check may fail after the first write");
  constexpr const char* kDivided = R"(graph f(%0: i32[64] input, %1: i32[64] input) -> (%2) {
  %2: i32[64] = floor_divide(%0, %1)
}
)";
  EXPECT_EQ(after(placed(kDivided), [](PlanDraft& draft) { draft.donations[0] = 0; }),
            "input %0 is donated to %2, but a check may fail after the first write");
}

TEST(VerifyDraft, OutputsAreComparedInOrderWhenTheyAreComplete) {
  const std::vector<ExpectedOutput> expected = {{0, "\1"}, {1, "\1\1\1\1"}};
  PlanDraft draft = test::draft_of(R"(graph f(%0: f32[4,4] input, %1: f32[4,4] input) -> (%3, %5, %6) {
  %2: f32[] = sum(%1) {dim=none, keepdim=false}
  %3: bool[] = gt(%2, 0.0)
  %4: f32[4] = amax(%1) {dim=[0], keepdim=false}
  %5: bool[4] = gt(%4, 0.5)
  %6: f32[4,4] = add(%0, %1)
}
)",
                                   {{0, 2}}, {}, expected);
  run_plan_passes(draft, test::passes_without({kHorizontalFusion, kFuseSteps}));
  ASSERT_EQ(draft.checked_after.size(), 2u);
  EXPECT_LT(draft.checked_after[0], draft.checked_after[1]);
  EXPECT_LT(draft.checked_after[1] + 1, draft.schedule.steps.size());
  EXPECT_EQ(draft.donations[2], 0);
  EXPECT_EQ(after(draft, [](PlanDraft& wrong) { wrong.checked_after[1] = wrong.checked_after[0]; }),
            "output 1 is compared before it is complete");
  EXPECT_EQ(after(draft, [](PlanDraft& wrong) { std::swap(wrong.checked_after[0], wrong.checked_after[1]); }),
            "output 1 is compared before an earlier one");
  const size_t last = draft.schedule.steps.size() - 1;
  EXPECT_EQ(after(draft, [&](PlanDraft& wrong) { wrong.checked_after[1] = last; }),
            fmt::format("no check is expected after step {}", last));
  EXPECT_EQ(after(draft, [&](PlanDraft& wrong) { wrong.schedule.steps[last].is_checked = true; }),
            "input %0 is donated to %6, but a check may fail after the first write");
}

TEST(VerifyDraft, DonatedInputsAreDeadWhenTheirMemoryIsWritten) {
  constexpr const char* kTwo = R"(graph f(%0: f32[64] input, %1: f32[64] input) -> (%2, %3) {
  %2: f32[64] = add(%0, %1)
  %3: f32[64] = cumsum(%0) {dim=0}
}
)";
  EXPECT_EQ(after(placed(kTwo), [](PlanDraft& draft) { draft.donations[0] = 0; }),
            "input %0 is donated to %2, but is read after the first write");
  EXPECT_EQ(after(placed(kTwo), [](PlanDraft& draft) { draft.donations[1] = 1; }), "verifies");
  EXPECT_EQ(after(placed(kTwo), [](PlanDraft& draft) { draft.donations = {1, 1}; }), "input %1 is donated twice");
  EXPECT_EQ(after(placed(kTwo), [](PlanDraft& draft) { draft.donations[1] = 5; }),
            "input 5 is donated, but does not exist");
  // Elements are permuted: an element may be written before it is read.
  constexpr const char* kFlipped = R"(graph f(%0: f32[64] input) -> (%1) {
  %1: f32[64] = flip(%0) {dims=[0]}
}
)";
  EXPECT_EQ(after(placed(kFlipped), [](PlanDraft& draft) { draft.donations[0] = 0; }),
            "input %0 is donated to %1, but is read after the first write");
}

}  // namespace
}  // namespace lucid
