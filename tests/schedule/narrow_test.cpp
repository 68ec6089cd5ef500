#include <gtest/gtest.h>

#include "gpu_traits.h"
#include "ir/graph_emitter.h"
#include "schedule/schedule.h"

// Kernels for gpus compute indices in 32 bits only if all numbers are small.
namespace lucid {
namespace {

/// The schedule of the sums of rows of a matrix.
Schedule row_sums(Dtype dtype, const Dims& shape) {
  IRGraph graph;
  GraphEmitter e(graph);
  const ValueId x = graph.add_input({dtype, shape});
  graph.output_ids = {GraphEmitter::id_of(e.amax(e.value(x), Dims{1}, false))};
  auto layouts = assign_layouts(graph, {{x, {shape, contiguous_strides(shape), 0}}});
  return schedule_graph(graph, std::move(layouts), test::kGpuTraits);
}

bool is_narrow(const Schedule& schedule) {
  for (const loop::Instruction& x : schedule.steps.at(0).kernel->instructions)
    if (x.code == loop::Code::kMul && x.type == loop::Type{Dtype::kI32, false}) return true;
  return false;
}

TEST(NarrowSchedule, SmallSizesHaveNarrowIndices) {
  Schedule schedule = row_sums(Dtype::kF32, {30, 1000});
  EXPECT_FALSE(is_narrow(schedule));
  EXPECT_TRUE(narrow_indices(schedule));
  EXPECT_TRUE(is_narrow(schedule));
}

TEST(NarrowSchedule, LargeParamsDoNot) {
  Schedule schedule = row_sums(Dtype::kF32, {3, int64_t{1} << 24});
  EXPECT_FALSE(narrow_indices(schedule));
  EXPECT_FALSE(is_narrow(schedule));
}

TEST(NarrowSchedule, LargeBuffersDoNot) {
  // The rows are short, and so are the params, but not the matrix.
  Schedule schedule = row_sums(Dtype::kU8, {int64_t{1} << 22, 1 << 10});
  EXPECT_FALSE(narrow_indices(schedule));
}

}  // namespace
}  // namespace lucid
