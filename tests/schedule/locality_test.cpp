#include <gtest/gtest.h>

#include "ir/graph_emitter.h"
#include "schedule/schedule.h"

namespace lucid {
namespace {

struct Scheduled {
  Schedule schedule;
  ValueId weight = -1;
  ValueId result = -1;

  size_t kernels() const { return schedule.steps.size(); }
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
  fuse_steps(scheduled.schedule, {id, scheduled.result});
  return scheduled;
}

TEST(Fuse, StepsOverTheSameRowsAreOneKernel) {
  const Scheduled rows = softmax({8, 64, 1000}, {64000, 1000, 1}, 2);
  ASSERT_EQ(rows.kernels(), 1u);
  EXPECT_EQ(rows.schedule.steps[0].items, 8 * 64);
  // Only x and the result are arguments: the intermediate values are locals of a few rows.
  EXPECT_EQ(rows.schedule.steps[0].buffers.size(), 2u);
}

TEST(Locality, AMathFunctionUsedTwiceIsComputedOnceIntoTheResult) {
  const Scheduled rows = softmax({4, 100}, {100, 1}, 1);
  EXPECT_EQ(rows.schedule.layouts.at(rows.weight).storage, rows.result);
}

TEST(Fuse, AnInputMayHaveGapsBetweenItsRows) { EXPECT_EQ(softmax({400, 1000}, {3000, 1}, 1).kernels(), 1u); }

TEST(Fuse, AnInputMayBeTheSameInEveryRow) { EXPECT_EQ(softmax({400, 1000}, {0, 1}, 1).kernels(), 1u); }

TEST(Fuse, ReductionsDownTheSameColumnsAreOneKernelByPanels) {
  // The last step works on rows: by columns it would find little in the cache.
  const Scheduled columns = softmax({1280, 1024}, {1024, 1}, 0);
  ASSERT_GT(columns.kernels(), 1u);
  EXPECT_EQ(columns.schedule.steps[0].items, 1024 / kPanelColumns);
}

TEST(Fuse, SmallStepsAreOneKernelWhateverTheyTouch) { EXPECT_EQ(softmax({16, 10}, {10, 1}, 0).kernels(), 1u); }

}  // namespace
}  // namespace lucid
