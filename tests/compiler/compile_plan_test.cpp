#include "compiler/compile_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/options.h"
#include "ir/graph_emitter.h"
#include "runtime/allocator.h"

namespace lucid {
namespace {

/// How often a word occurs in the names of a plan's steps.
size_t count(const Plan& plan, const std::string& word) {
  size_t n = 0;
  for (const PlanStep& step : plan.steps)
    for (size_t at = step.name.find(word); at != std::string::npos; at = step.name.find(word, at + 1)) ++n;
  return n;
}

Ref<Plan> normalize_plan() {
  IRGraph graph;
  GraphEmitter e(graph);
  const Dims shape = {1024, 1024};
  const ValueId id = graph.add_input({Dtype::kF32, shape});
  const Value x = e.value(id);
  const Value centred = e.sub(x, e.mean(x, Dims{0}, true));
  const Value result = e.div(centred, e.std(x, Dims{0}, true));
  graph.output_ids = {GraphEmitter::id_of(result)};
  return compile_plan(graph, {{id, {shape, contiguous_strides(shape), 0}}});
}

TEST(CompilePlan, ComputesCommonPartsOfCompositesOnce) { EXPECT_EQ(count(*normalize_plan(), "mean"), 1u); }

TEST(CompilePlan, ComputesThemTwiceIfThatPassIsDisabled) {
  Options options = lucid::options();
  options.disable_passes = "CommonSubexpressionPass";
  const OptionsScope scope(options);
  EXPECT_EQ(count(*normalize_plan(), "mean"), 2u);
}

TEST(CompilePlan, KeepsNoPackedFormOfAFreshInput) {
  IRGraph graph;
  GraphEmitter e(graph);
  const Dims shape = {64, 64};
  const Geometry rows{shape, contiguous_strides(shape), 0};
  const Geometry columns{shape, {1, 64}, 0};
  const ValueId x = graph.add_input({Dtype::kF32, shape});
  const ValueId w = graph.add_input({Dtype::kF32, shape});
  graph.output_ids = {GraphEmitter::id_of(e.matmul(e.value(x), e.value(w)))};
  const std::map<ValueId, Geometry> inputs = {{x, rows}, {w, columns}};
  EXPECT_EQ(compile_plan(graph, inputs)->packed_bytes.size(), 1u);
  const size_t fresh[] = {1};
  EXPECT_TRUE(compile_plan(graph, inputs, {.fresh = fresh})->packed_bytes.empty());
}

TEST(CompilePlan, ScratchIsAllocatedBeforeAnythingIsWritten) {
  IRGraph graph;
  GraphEmitter e(graph);
  const Dims left = {64, 2048}, right = {2048, 512};
  const ValueId a = graph.add_input({Dtype::kF32, left});
  const ValueId b = graph.add_input({Dtype::kF32, right});
  graph.output_ids = {GraphEmitter::id_of(e.matmul(e.value(a), e.value(b)))};
  const Ref<Plan> plan =
      compile_plan(graph, {{a, {left, contiguous_strides(left), 0}}, {b, {right, contiguous_strides(right), 0}}});
  ASSERT_GT(plan->scratch_bytes, 0u);
  std::vector<float> ones(static_cast<size_t>(numel(right)), 1.f);
  std::vector<float> out(static_cast<size_t>(64 * 512), 7.f);
  void* const inputs[] = {ones.data(), ones.data()};
  void* const outputs[] = {out.data()};
  int failures = 0;
  for (int64_t successes = 0;; ++successes) {
    const AllocationFailureScope scope(successes);
    try {
      EXPECT_EQ(plan->run(inputs, outputs), 0);
      break;
    } catch (const MemoryError&) {
      ++failures;
      EXPECT_EQ(out, std::vector<float>(out.size(), 7.f));
    }
  }
  EXPECT_GT(failures, 0);
  EXPECT_EQ(out, std::vector<float>(out.size(), 2048.f));
}

}  // namespace
}  // namespace lucid
