#include <gtest/gtest.h>

#include <algorithm>

#include "../tensor/support.h"
#include "base/options.h"
#include "compiler/compile_plan.h"
#include "lucid/compile.h"
#include "lucid/lucid.h"
#include "passes/runner.h"
#include "reports.h"
#include "tensor/eager.h"

// Ops with effects: `reported` has ordered ones, `sent` external ones.
namespace lucid {
namespace {

using namespace lucid::testing;
using Reports = std::vector<float>;

Tensor call(const char* name, const Tensor& x) {
  const Operand operands[] = {Operand(value_of(x))};
  return Tensor(tensor_of(eager().emit_one(op_table().at(name), operands, {})));
}

Tensor report(const Tensor& x) { return call("reported", x); }

/// What `function` reports.
template <typename Function>
Reports reports_of(const Function& function) {
  reports().clear();
  function();
  return reports();
}

TEST(OpWithEffects, IsNeitherRemovedNorMergedNorFolded) {
  for (const std::string name : {"reported", "sent"}) {
    IRGraph graph = parse_graph("graph f(%0: f32[3] input, %4: f32[3] constant) -> (%3) {\n  %1: f32[3] = " + name +
                                "(%0) no_grad\n  %2: f32[3] = " + name + "(%0) no_grad\n  %5: f32[3] = " + name +
                                "(%4) no_grad\n  %3: f32[3] = exp(%0) no_grad\n}\n");
    const std::string before = to_text(graph);
    ConstantPool zeros = {{4, {{Dtype::kF32, {3}}, std::vector<std::byte>(12)}}};
    run_passes(graph, zeros);
    EXPECT_EQ(to_text(graph), before);
  }
}

TEST(OpWithEffects, MustRunOnTheHostAndInferItsResults) {
  Op op = op_table().at("neg");
  op.effects = Effects::kExternal;
  EXPECT_THROW(OpTable({op}), InternalError);
  op = op_table().at("reported");
  op.infer = nullptr;
  EXPECT_THROW(OpTable({op}), InternalError);
}

/// Swaps the first two nodes.
class SwapPass : public Pass {
 public:
  std::string name() const override { return "SwapPass"; }
  bool run(IRGraph& graph, ConstantPool&) override {
    std::swap(graph.nodes[0], graph.nodes[1]);
    return true;
  }
};

TEST(OpWithEffects, IsNotReorderedByAPass) {
  IRGraph graph =
      parse_graph("graph f(%0: f32[3] input) -> (%0) {\n  %1: f32[3] = reported(%0)\n  %2: f32[3] = reported(%0)\n}\n");
  ConstantPool none;
  EXPECT_THROW(run_passes(graph, none, {std::make_shared<SwapPass>()}), InternalError);
}

TEST(ExternalEffect, RunsEagerly) {
  const auto f = compile([](const Tensor& x) { return call("sent", x) + 1.0; });
  for (float i = 0; i < 4; ++i)
    EXPECT_EQ(reports_of([&] { EXPECT_EQ(read(f(full({3}, i))), read(full({3}, i + 1))); }), Reports{i});
  EXPECT_EQ(f.cache_info().compiles, 0);
}

TEST(OrderedEffect, IsRepeatedByCompiledCallsInOrder) {
  const auto function = [](const Tensor& x) {
    const Tensor first = report(x.exp().sum());
    report(x);  // without a use
    const Tensor last = report(first + 1.0);
    report(x);
    return last * x + (x * 2.0).sum(0, true);
  };
  const auto f = compile(function);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = randn({64, 64});
    Tensor expected, result;
    const Reports eager = reports_of([&] { expected = function(x); });
    EXPECT_EQ(eager.size(), 4u);
    EXPECT_EQ(reports_of([&] { result = f(x); }), eager);
    EXPECT_EQ(read(result), read(expected));
  }
  EXPECT_EQ(f.cache_info().compiles, 1);
  EXPECT_EQ(f.cache_info().hits, 3);
  EXPECT_NE(f.graph(randn({64, 64})).find("reported"), std::string::npos);
}

TEST(OrderedEffect, KeepsItsOrderInAPlan) {
  // The kernels between the effects fuse.
  const IRGraph graph = parse_graph(
      "graph f(%0: f32[64,64] input) -> (%5, %7) {\n  %1: f32[64,64] = exp(%0)\n  %2: f32[64,64] = reported(%1)\n"
      "  %3: f32[64,64] = tanh(%0)\n  %4: f32[64,64] = reported(%0)\n  %5: f32[64] = sum(%3) {dim=[1]}\n"
      "  %6: f32[64,64] = reported(%3)\n  %7: f32[64,64] = mul(%1, %3)\n}\n");
  const Dims shape = {64, 64};
  const Ref<Plan> plan = compile_plan(graph, {{0, {shape, contiguous_strides(shape), 0}}});
  EXPECT_EQ(std::ranges::count(plan->steps, "reported", &PlanStep::name), 3);
  std::vector<float> x(64 * 64, 0.5f), sums(64), products(64 * 64);
  void* const inputs[] = {x.data()};
  void* const outputs[] = {sums.data(), products.data()};
  EXPECT_EQ(reports_of([&] { plan->run(inputs, outputs); }),
            (Reports{full({1}, 0.5).exp().item<float>(), 0.5f, full({1}, 0.5).tanh().item<float>()}));
}

TEST(OrderedEffect, MayFollowACheckThatItDependsOn) {
  const auto f = compile([](const Tensor& x, const Tensor& i) { return report(x.index_select(0, i)); });
  const Tensor x = arange(4.0);
  for (const int64_t i : {0, 1, 2, 3})
    EXPECT_EQ(reports_of([&] { f(x, full({1}, i)); }), Reports{static_cast<float>(i)});
  EXPECT_EQ(f.cache_info().compiles, 1);
  EXPECT_EQ(reports_of([&] { EXPECT_THROW(f(x, full({1}, 4)), IndexError); }), Reports{});
}

TEST(OrderedEffect, RunsEagerlyIfACheckMayFailAfterIt) {
  const auto f = compile([](const Tensor& x, const Tensor& i) { return report(x).index_select(0, i); });
  const Tensor x = arange(4.0);
  for (const int64_t i : {0, 1, 2, 3}) EXPECT_EQ(reports_of([&] { f(x, full({1}, i)); }), Reports{0});
  EXPECT_EQ(reports_of([&] { EXPECT_THROW(f(x, full({1}, 4)), IndexError); }), Reports{0});
  EXPECT_EQ(f.cache_info().hits, 0);
  EXPECT_NE(f.explain().find("may fail after it"), std::string::npos) << f.explain();
}

TEST(OrderedEffect, RunsEagerlyIfTheCallReadsValues) {
  const auto f = compile([](const Tensor& x) { return report(x.sum().item<float>() > 0 ? x : -x); });
  for (const float i : {1.0f, 2.0f, -3.0f}) EXPECT_EQ(reports_of([&] { f(full({1}, i)); }), Reports{std::abs(i)});
  EXPECT_EQ(f.cache_info().hits, 0);
}

TEST(OrderedEffect, HappensOnceInVerifyMode) {
  const auto f = compile([](const Tensor& x) { return report(x) * 2.0; }, {.verify = 1});
  for (float i = 0; i < 4; ++i) EXPECT_EQ(reports_of([&] { f(full({1}, i)); }), Reports{i});
  EXPECT_GT(f.cache_info().hits, 0);
}

TEST(OrderedEffect, HappensOncePerCallIfNumbersAndSizesVary) {
  const auto f = compile([](const Tensor& x, double factor) { return report(x * factor); });
  for (int64_t i = 1; i < 6; ++i)
    EXPECT_EQ(reports_of([&] { f(ones({i}), static_cast<double>(i)); }), Reports{static_cast<float>(i)});
}

}  // namespace
}  // namespace lucid
