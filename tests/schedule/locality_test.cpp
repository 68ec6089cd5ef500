#include <gtest/gtest.h>

#include "schedule/schedule.h"

namespace lucid {
namespace {

struct Scheduled {
  Schedule schedule;
  ValueId weight = -1;
  ValueId result = -1;

  std::vector<bool> joins() const {
    std::vector<bool> flags;
    for (const KernelStep& step : schedule.steps) flags.push_back(step.joins_previous);
    return flags;
  }
};

/// exp(x - max) / sum along an axis, as softmax computes it.
Scheduled softmax(const Dims& shape, const Dims& strides, int64_t axis) {
  IRGraph graph;
  GraphEmitter e(graph);
  const ValueId id = graph.add_input({Dtype::kF32, shape});
  const Value x = e.value(id);
  const Value weight = e.exp(e.sub(x, e.amax(x, Dims{axis}, true)));
  const Value result = e.div(weight, e.sum(weight, Dims{axis}, true));
  graph.output_ids = {GraphEmitter::id_of(result)};
  auto layouts = assign_layouts(graph, {{id, {shape, strides, 0}}});
  place_in_results(graph, layouts);
  Scheduled scheduled{schedule_graph(graph, std::move(layouts)), GraphEmitter::id_of(weight), graph.output_ids[0]};
  join_rows(scheduled.schedule);
  return scheduled;
}

TEST(Locality, StepsOverTheSameRowsAreJoined) {
  const Scheduled rows = softmax({8, 64, 1000}, {64000, 1000, 1}, 2);
  EXPECT_EQ(rows.joins(), (std::vector<bool>{false, true, true, true}));
  for (const KernelStep& step : rows.schedule.steps) EXPECT_EQ(step.items, 8 * 64);
  // A row of x, a row of the result and two numbers, as often as they fit in 32 KiB.
  EXPECT_EQ(rows.schedule.steps[0].block, (32 << 10) / (8000 + 8 + 1));
}

TEST(Locality, AMathFunctionUsedTwiceIsComputedOnceIntoTheResult) {
  const Scheduled rows = softmax({4, 100}, {100, 1}, 1);
  EXPECT_EQ(rows.schedule.layouts.at(rows.weight).storage, rows.result);
}

TEST(Locality, AnInputWithGapsBetweenItsRowsIsJoinedToo) {
  EXPECT_EQ(softmax({4, 100}, {300, 1}, 1).joins(), (std::vector<bool>{false, true, true, true}));
}

TEST(Locality, RowsThatShareMemoryAreNotJoined) {
  // Every row is the same, so no item has a part of its own.
  EXPECT_FALSE(softmax({4, 100}, {0, 1}, 1).joins()[1]);
}

TEST(Locality, StepsAcrossTheRowsAreNotJoined) {
  // The reductions go down the columns, which the other steps do not follow.
  for (const bool joins : softmax({128, 100}, {100, 1}, 0).joins()) EXPECT_FALSE(joins);
}

}  // namespace
}  // namespace lucid
