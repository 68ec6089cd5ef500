// Plans for other sizes from one list of steps.

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "compiler/compile_plan.h"
#include "ir/graph.h"
#include "ir/graph_emitter.h"
#include "runtime/kernel_cache.h"
#include "runtime/storage.h"
#include "schedule/contraction.h"

namespace lucid {
namespace {

using Function = std::function<Value(Emitter& e, const std::vector<Value>& inputs)>;

/// A graph of a function of tensors with these shapes.
struct Recorded {
  Recorded(const Function& f, const std::vector<Dims>& shapes) {
    GraphEmitter e(graph);
    std::vector<Value> values;
    for (const Dims& shape : shapes) {
      const ValueId id = graph.add_input({Dtype::kF32, shape});
      inputs[id] = {shape, contiguous_strides(shape), 0};
      values.push_back(e.value(id));
    }
    graph.output_ids = {GraphEmitter::id_of(f(e, values))};
  }
  IRGraph graph;
  std::map<ValueId, Geometry> inputs;
};

/// The shapes of the inputs for two sizes.
using Shapes = std::function<std::vector<Dims>(SymInt s, SymInt t)>;

std::vector<float> result_of(const Plan& plan, const std::vector<Dims>& shapes) {
  std::mt19937 random(1);
  std::vector<std::vector<float>> inputs;
  std::vector<void*> addresses;
  for (const Dims& shape : shapes) {
    inputs.emplace_back(static_cast<size_t>(int64_t{numel(shape)}));
    for (float& element : inputs.back()) element = static_cast<float>(random() % 1000) / 500 - 1;
  }
  for (std::vector<float>& input : inputs) addresses.push_back(input.data());
  const auto elements = static_cast<size_t>(int64_t{numel(plan.outputs[0].type.shape)});
  const Ref<Storage> memory = Storage::allocate(elements * sizeof(float));
  void* const output = memory->data();
  EXPECT_EQ(plan.run(addresses, {&output, 1}), 0);
  const auto* first = static_cast<const float*>(output);
  return {first, first + elements};
}

class PlanTemplates : public ::testing::Test {
 protected:
  void record(const Function& f, const Shapes& shapes, int64_t s, int64_t t) {
    f_ = f;
    shapes_ = shapes;
    const SymInt a = trace_.add_symbol(s), b = trace_.add_symbol(t);
    const SizeTrace::Scope scope(&trace_);
    const Recorded recorded(f, shapes(a, b));
    template_.emplace(recorded.graph, recorded.inputs, PlanOptions{}, trace_, trace_.sizes());
    form_ = compile_form(recorded.graph, recorded.inputs, PlanOptions{}, trace_, trace_.sizes());
    for (const auto& kernel : form_.kernels) codes_.push_back(kernel_cache().get(*kernel, chosen_level()));
  }

  /// Whether the template serves these sizes; then its plan must compute what a plan for these sizes alone computes.
  bool serves(int64_t s, int64_t t) const {
    const Ref<Plan> plan = template_->plan_for({{s, t}});
    const std::vector<int64_t> sizes = {s, t};
    EXPECT_EQ(form_.form.serves(sizes), static_cast<bool>(plan)) << s << " " << t;
    if (!plan) return false;
    const std::vector<Dims> shapes = shapes_(s, t);
    const Recorded recorded(f_, shapes);
    EXPECT_EQ(result_of(*plan, shapes), result_of(*compile_plan(recorded.graph, recorded.inputs), shapes))
        << s << " " << t;
    // The same plan as data.
    const Ref<Plan> made = make_plan(form_.form, sizes, codes_);
    made->outputs = plan->outputs;
    EXPECT_EQ(result_of(*made, shapes), result_of(*plan, shapes)) << s << " " << t;
    EXPECT_EQ(made->arena_bytes, plan->arena_bytes);
    return true;
  }

  SizeTrace trace_;
  std::optional<PlanTemplate> template_;
  PlanSource form_;
  std::vector<Ref<LoadedCode>> codes_;
  Function f_;
  Shapes shapes_;
};

TEST_F(PlanTemplates, ServeSizesOfTheSameBucket) {
  record(
      [](Emitter& e, const std::vector<Value>& in) {
        const Value y = e.relu(e.add(e.matmul(in[0], in[1]), in[2]));
        return e.softmax(e.mul(e.layer_norm(y, Dims{48}, Operand(), Operand(), 1e-5), y), -1);
      },
      [](SymInt s, SymInt t) -> std::vector<Dims> { return {{s, t, 32}, {32, 48}, {48}}; }, 9, 20);
  for (const int64_t s : {8, 9, 13, 15})
    for (const int64_t t : {16, 17, 24, 31}) EXPECT_TRUE(serves(s, t)) << s << " " << t;
  EXPECT_FALSE(serves(7, 20));
  EXPECT_FALSE(serves(16, 20));
  EXPECT_FALSE(serves(9, 32));
}

TEST_F(PlanTemplates, ReduceAndMoveSizesThatVary) {
  record(
      [](Emitter& e, const std::vector<Value>& in) {
        const Value total = e.sum(in[0], Dims{1}, true);
        const std::vector<Value> parts{e.transpose(e.div(in[0], total), 0, 1), in[1]};
        return e.cat(parts, 0);
      },
      [](SymInt s, SymInt t) -> std::vector<Dims> { return {{s, t}, {3, s}}; }, 40, 300);
  for (const int64_t s : {32, 33, 47, 63})
    for (const int64_t t : {257, 300, 301, 400, 511}) EXPECT_TRUE(serves(s, t)) << s << " " << t;
}

TEST_F(PlanTemplates, ServeNoSizesForWhichTheStepsAreWrong) {
  // With vector registers, the kernel multiplies as many rows at once as there were.
  record([](Emitter& e, const std::vector<Value>& in) { return e.matmul(in[0], in[1]); },
         [](SymInt s, SymInt t) -> std::vector<Dims> { return {{s, t}, {t, 64}}; }, 6, 64);
  for (const int64_t s : {6, 7}) EXPECT_TRUE(serves(s, 100)) << s;
  const bool has_vectors = cpu_traits().registers.bytes > 16;
  for (const int64_t s : {4, 5}) EXPECT_EQ(serves(s, 70), !has_vectors) << s;
}

}  // namespace
}  // namespace lucid
