#include <gtest/gtest.h>

#include "ir/graph_emitter.h"
#include "schedule/schedule.h"

// Windows with stride 2 are read with special instructions, and rows are found without divisions.
namespace lucid {
namespace {

using loop::Code;

int count(const loop::Kernel& kernel, Code code) {
  int n = 0;
  for (const loop::Instruction& x : kernel.instructions) n += x.code == code;
  return n;
}

template <typename Make>
loop::Kernel kernel_of(const Dims& shape, const Make& make) {
  IRGraph graph;
  GraphEmitter e(graph);
  const ValueId id = graph.add_input({Dtype::kF32, shape});
  graph.output_ids = {GraphEmitter::id_of(make(e, e.value(id)))};
  auto layouts = assign_layouts(graph, {{id, {shape, contiguous_strides(shape), 0}}});
  Schedule schedule = schedule_graph(graph, std::move(layouts));
  EXPECT_EQ(schedule.steps.size(), 1u);
  return *schedule.steps.front().kernel;
}

Value pooled(Emitter& e, Value x, int64_t stride, const Dims& size) {
  return e.max_pool(x, Dims{2, 2}, Dims{stride, stride}, Dims{0, 0}, Dims{1, 1}, size);
}

TEST(Windows, WithStride2AreLoadedWithoutGathering) {
  const loop::Kernel kernel = kernel_of({3, 6, 28, 28}, [](Emitter& e, Value x) { return pooled(e, x, 2, {14, 14}); });
  EXPECT_EQ(count(kernel, Code::kGather), 0);
  EXPECT_GT(count(kernel, Code::kLoadAlternate), 0);
}

TEST(Windows, AdjacentOnesAreLoadedAsVectors) {
  const loop::Kernel kernel = kernel_of({3, 6, 28, 28}, [](Emitter& e, Value x) { return pooled(e, x, 1, {27, 27}); });
  EXPECT_EQ(count(kernel, Code::kGather) + count(kernel, Code::kLoadAlternate), 0);
}

TEST(Windows, WithStride3AreGathered) {
  const loop::Kernel kernel = kernel_of({3, 6, 28, 28}, [](Emitter& e, Value x) { return pooled(e, x, 3, {9, 9}); });
  EXPECT_GT(count(kernel, Code::kGather), 0);
}

TEST(Windows, GradientsWithStride2FillTwoLanes) {
  const loop::Kernel kernel = kernel_of({3, 6, 14, 14}, [](Emitter& e, Value g) {
    return e.mean_pool_back(g, Dims{2, 2}, Dims{2, 2}, Dims{0, 0}, Dims{1, 1}, Dims{28, 28});
  });
  EXPECT_EQ(count(kernel, Code::kGather), 0);
  EXPECT_GT(count(kernel, Code::kLoadTwice), 0);
}

TEST(Windows, GradientsThatBeginInTheMiddleOfAPairAreGathered) {
  const loop::Kernel kernel = kernel_of({3, 6, 15, 15}, [](Emitter& e, Value g) {
    return e.mean_pool_back(g, Dims{2, 2}, Dims{2, 2}, Dims{1, 1}, Dims{1, 1}, Dims{28, 28});
  });
  EXPECT_EQ(count(kernel, Code::kLoadTwice), 0);
  EXPECT_GT(count(kernel, Code::kGather), 0);
}

TEST(Windows, OfDirectConvolutionsWithStride2AreLoadedWithoutGathering) {
  for (int64_t stride : {2, 3}) {
    IRGraph graph;
    GraphEmitter e(graph);
    const Dims shape = {2, 3, 65, 65}, weight_shape = {4, 3, 3, 3}, none = {0, 0}, ones = {1, 1};
    const ValueId x = graph.add_input({Dtype::kF32, shape}), weight = graph.add_input({Dtype::kF32, weight_shape});
    const Value y = e.convolution(e.value(x), e.value(weight), Operand(), Dims{stride, stride}, none, none, ones, ones);
    graph.output_ids = {GraphEmitter::id_of(y)};
    auto layouts = assign_layouts(graph, {{x, {shape, contiguous_strides(shape), 0}},
                                          {weight, {weight_shape, contiguous_strides(weight_shape), 0}}});
    const Schedule schedule = schedule_graph(graph, std::move(layouts));
    const loop::Kernel& kernel = *schedule.steps.back().kernel;
    ASSERT_NE(kernel.name.find("direct"), std::string::npos);
    EXPECT_EQ(count(kernel, Code::kGather) == 0, stride == 2);
    EXPECT_EQ(count(kernel, Code::kLoadAlternate) > 0, stride == 2);
  }
}

TEST(Windows, RowIndicesAreIncrementedNotDivided) {
  const loop::Kernel kernel = kernel_of({3, 6, 28, 28}, [](Emitter& e, Value x) { return pooled(e, x, 2, {14, 14}); });
  // Once for each dimension except the first, before the loop over the rows.
  EXPECT_EQ(count(kernel, Code::kRem), 2);
  for (loop::Id id : kernel.blocks[0].instructions) {
    const loop::Instruction& x = kernel.instructions[id];
    if (x.code != Code::kFor) continue;
    for (loop::Id inner : kernel.blocks[x.blocks[0]].instructions)
      EXPECT_NE(kernel.instructions[inner].code, Code::kRem);
  }
}

}  // namespace
}  // namespace lucid
