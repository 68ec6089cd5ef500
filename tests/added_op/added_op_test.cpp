#include <gtest/gtest.h>

#include "../tensor/support.h"
#include "compiler/compile_plan.h"
#include "identity_cases.h"
#include "lucid/compile.h"
#include "lucid/lucid.h"
#include "passes/common_subexpression.h"
#include "passes/constant_fold.h"
#include "passes/dead_node_elim.h"
#include "passes/exact_identity.h"
#include "tensor/eager.h"

// Everything that reads the op table finds the ops that added_op.cpp adds.
namespace lucid {
namespace {

using namespace lucid::testing;

Tensor call(const char* name, const Tensor& x) {
  const Operand operands[] = {Operand(value_of(x))};
  return Tensor(tensor_of(eager().emit_one(op_table().at(name), operands, {})));
}

/// A graph of %0: f32[64,64] after a pass, as text.
template <typename Pass>
std::string after(const std::string& body, ConstantPool constants = {}) {
  IRGraph graph = parse_graph(body);
  Pass().run(graph, constants);
  verify(graph);
  return to_text(graph);
}

TEST(AddedOp, RunsEagerlyAndCompiledAndIsDifferentiated) {
  const auto f = compile([](const Tensor& x) { return call("opposite", x) * 2.0; });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = randn({3, 4}).requires_grad_();
    const Tensor y = f(x);
    EXPECT_EQ(read(y), read(x * -2.0));
    lucid::sum(y).backward();
    EXPECT_EQ(read(x.grad()), read(full({3, 4}, -2.0)));
  }
  EXPECT_EQ(f.cache_info().hits, 2);
}

TEST(AddedOp, TellsPassesItsIdentities) {
  const char* const twice =
      "graph f(%0: f32[3] input) -> (%3) {\n  %1: f32[3] = opposite(%0)\n  %2: f32[3] = opposite(%1)\n"
      "  %3: f32[6] = cat_same(%2, %2)\n}\n";
  const std::string text = after<ExactIdentityPass>(twice);
  EXPECT_NE(text.find("cat_same(%0, %0)"), std::string::npos) << text;
}

TEST(AddedOp, IsMergedRemovedAndFolded) {
  const char* const equal =
      "graph f(%0: f32[3] input) -> (%3) {\n  %1: f32[3] = opposite(%0)\n  %2: f32[3] = opposite(%0)\n"
      "  %3: f32[3] = add(%1, %2)\n}\n";
  EXPECT_NE(after<CommonSubexpressionPass>(equal).find("add(%1, %1)"), std::string::npos);
  const char* const unused =
      "graph f(%0: f32[3] input) -> (%2) {\n  %1: f32[3] = opposite(%0)\n  %2: f32[3] = exp(%0)\n}\n";
  EXPECT_EQ(after<DeadNodeElimPass>(unused).find("opposite"), std::string::npos);
  const char* const known =
      "graph f(%0: f32[1] input, %1: f32[1] constant) -> (%3) {\n  %2: f32[1] = opposite(%1)\n"
      "  %3: f32[1] = add(%0, %2)\n}\n";
  const ConstantPool one = {{1, {{Dtype::kF32, {1}}, {std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3f}}}}};
  EXPECT_EQ(after<ConstantFoldPass>(known, one).find("opposite"), std::string::npos);
}

TEST(AddedOp, HasItsIdentitiesTested) {
  EXPECT_TRUE(std::ranges::any_of(test::identity_cases(), [](const test::IdentityCase& c) {
    return c.body.find("opposite") != std::string::npos && c.dtypes.contains(Dtype::kF32);
  }));
}

/// How many times a plan computes an op that two sums along different dimensions read, by the names of its steps.
size_t times_computed(const std::string& op) {
  const IRGraph graph = parse_graph("graph f(%0: f32[64,64] input) -> (%2, %3) {\n  %1: f32[64,64] = " + op +
                                    "(%0)\n  %2: f32[64] = sum(%1) {dim=[0]}\n  %3: f32[64] = sum(%1) {dim=[1]}\n}\n");
  const Dims shape = {64, 64};
  const Ref<Plan> plan = compile_plan(graph, {{0, {shape, contiguous_strides(shape), 0}}});
  size_t times = 0;
  for (const PlanStep& step : plan->steps)
    for (size_t at = step.name.find(op); at != std::string::npos; at = step.name.find(op, at + 1)) ++times;
  return times;
}

TEST(AddedOp, IsScheduledByItsCost) {
  EXPECT_EQ(times_computed("neg"), 2u) << "cheap, so rematerialized for each sum";
  EXPECT_EQ(times_computed("opposite"), 1u) << "its declared cost is that of a function call";
  EXPECT_EQ(times_computed("exp"), 1u);
}

}  // namespace
}  // namespace lucid
