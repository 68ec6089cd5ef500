// Kernels of equal layers are copied: a copy reads and writes the values of its own layer.

#include "schedule/repeated_groups.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/graph_emitter.h"
#include "loop/kernel.h"

namespace lucid {
namespace {

Schedule scheduled(IRGraph& graph) {
  std::map<ValueId, Geometry> inputs;
  for (const ValueId id : graph.input_ids) {
    const Dims& shape = graph.type(id).shape;
    inputs[id] = {shape, contiguous_strides(shape), 0};
  }
  std::map<ValueId, Layout> layouts = assign_layouts(graph, inputs);
  return schedule_graph(graph, std::move(layouts));
}

std::set<int32_t> values_of(const KernelStep& step) {
  std::set<int32_t> values;
  for (const BufferUse& use : step.buffers)
    if (use.kind == BufferUse::Kind::kValue) values.insert(use.index);
  return values;
}

std::vector<int32_t> scratch_of(const KernelStep& step) {
  std::vector<int32_t> areas;
  for (const BufferUse& use : step.buffers)
    if (use.kind == BufferUse::Kind::kScratch) areas.push_back(use.index);
  return areas;
}

TEST(RepeatedGroups, CopiesUseTheirOwnValuesAndScratchAreas) {
  IRGraph graph;
  GraphEmitter e(graph);
  const TensorType type{Dtype::kF32, {1, 96, 96}};
  const ValueId first = graph.add_input(type);
  Value x = e.value(first);
  std::vector<ValueId> weights, products;
  for (int layer = 0; layer < 3; ++layer) {
    weights.push_back(graph.add_input(type));
    x = e.bmm(x, e.value(weights.back()));
    products.push_back(GraphEmitter::id_of(x));
  }
  graph.output_ids = {GraphEmitter::id_of(x)};
  const Schedule schedule = scheduled(graph);
  ASSERT_EQ(schedule.steps.size() % 3, 0u);
  const size_t each = schedule.steps.size() / 3;
  std::set<int32_t> areas;
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const KernelStep &step = schedule.steps[i], &original = schedule.steps[i % each];
    EXPECT_EQ(step.kernel, original.kernel);
    EXPECT_EQ(step.params, original.params);
    EXPECT_EQ(step.items, original.items);
    const size_t layer = i / each;
    if (step.packs) EXPECT_EQ(step.packs, weights[layer]);
    for (const int32_t value : values_of(step)) {
      const ValueId operand = layer == 0 ? first : products[layer - 1];
      EXPECT_TRUE(value == operand || value == weights[layer] || value == products[layer]) << "step " << i;
    }
    for (const int32_t area : scratch_of(step)) {
      EXPECT_LT(static_cast<size_t>(area), schedule.scratch_bytes.size());
      areas.insert(area);
    }
  }
  EXPECT_EQ(areas.size(), schedule.scratch_bytes.size());
  EXPECT_EQ(areas.size() % 3, 0u);
}

TEST(RepeatedGroups, GroupsThatDifferAreWritten) {
  IRGraph graph;
  GraphEmitter e(graph);
  const ValueId a = graph.add_input({Dtype::kF32, {4, 6}});
  const ValueId b = graph.add_input({Dtype::kF32, {4, 6}});
  const ValueId c = graph.add_input({Dtype::kF32, {4, 7}});
  // The same op: on two operands, on one operand twice, with another number, and in another shape.
  const Values made = {e.mul(e.value(a), e.value(b)), e.mul(e.value(a), e.value(a)), e.mul(e.value(b), 2),
                       e.mul(e.value(b), 3), e.mul(e.value(c), 2)};
  for (const Value& value : made) graph.output_ids.push_back(GraphEmitter::id_of(e.tanh(e.sum(value, Dims{1}))));
  const Schedule schedule = scheduled(graph);
  std::set<std::pair<std::string, std::vector<SymInt>>> kinds;
  for (const KernelStep& step : schedule.steps) {
    if (values_of(step).contains(a) || values_of(step).contains(b) || values_of(step).contains(c))
      kinds.emplace(loop::to_text(*step.kernel), step.params);
  }
  EXPECT_EQ(kinds.size(), 5u);
}

}  // namespace
}  // namespace lucid
