#include "passes/runner.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "message_of.h"
#include "passes/pipeline.h"

namespace lucid {
namespace {

using test::message_of;

IRGraph example() {
  return parse_graph(R"(graph f(%0: f32[4] input) -> (%4) {
  %1: f32[4] = exp(%0)  ; f.py:1
  %2: f32[4] = exp(%0)  ; f.py:2
  %3: f32[4] = sin(%0)
  %4: f32[4] = mul(%1, %2)
}
)");
}

std::vector<std::string> names_of(const PassReport& report) {
  std::vector<std::string> names;
  for (const PassRun& run : report.runs) names.push_back(run.name);
  return names;
}

TEST(Runner, RunsTheStandardPassesInOrderAndReportsEach) {
  IRGraph graph = example();
  ConstantPool constants;
  const PassReport report = run_passes(graph, constants);
  EXPECT_EQ(names_of(report),
            (std::vector<std::string>{"DeadNodeElimPass", "NoGradStripPass", "ConstantFoldPass", "ExactIdentityPass",
                                      "CommonSubexpressionPass", "DeadNodeElimPass"}));
  EXPECT_EQ(report.runs[0].nodes_before, 4u);
  EXPECT_EQ(report.runs[0].nodes_after, 3u);
  EXPECT_TRUE(report.runs[0].changed);
  EXPECT_FALSE(report.runs[2].changed);
  EXPECT_EQ(report.runs[4].nodes_after, 2u);
  for (const PassRun& run : report.runs) EXPECT_GT(run.microseconds, 0) << run.name;
  EXPECT_GE(report.microseconds(), report.runs[0].microseconds + report.runs[4].microseconds);
  EXPECT_EQ(to_text(graph), R"(graph f(%0: f32[4] input) -> (%4) {
  %1: f32[4] = exp(%0) no_grad  ; f.py:1
  %4: f32[4] = mul(%1, %1) no_grad
}
)");
}

TEST(Runner, ReportsPrintOneLinePerPass) {
  const PassReport report{{{"OnePass", 12.34, 10, 8, true}, {"AnotherPass", 0.5, 8, 8, false}}};
  EXPECT_EQ(to_text(report),
            "OnePass                        12.3 us      10 -> 8      nodes\n"
            "AnotherPass                     0.5 us       8 -> 8      nodes  unchanged\n");
}

TEST(Runner, PassesAreDisabledByName) {
  IRGraph graph = example();
  ConstantPool constants;
  const PassReport report = run_passes(graph, constants, {.disabled = {"DeadNodeElimPass", "NoGradStripPass"}});
  EXPECT_EQ(names_of(report),
            (std::vector<std::string>{"ConstantFoldPass", "ExactIdentityPass", "CommonSubexpressionPass"}));
  EXPECT_EQ(graph.nodes.size(), 3u);
}

TEST(Runner, PassesAreDisabledByTheProcessOption) {
  Options changed = options();
  changed.disable_passes = "CommonSubexpressionPass,DeadNodeElimPass";
  const OptionsScope scope(changed);
  IRGraph graph = example();
  ConstantPool constants;
  EXPECT_EQ(names_of(run_passes(graph, constants)),
            (std::vector<std::string>{"NoGradStripPass", "ConstantFoldPass", "ExactIdentityPass"}));
  EXPECT_EQ(graph.nodes.size(), 4u);
}

TEST(Runner, RejectsUnknownPassNames) {
  IRGraph graph = example();
  ConstantPool constants;
  const std::string cure =
      "which is not a pass; passes are CommonSubexpressionPass, ConstantFoldPass, DeadNodeElimPass, DonateBuffers, "
      "ExactIdentityPass, "
      "FuseSteps, HorizontalFusion, NarrowIndices, NoGradStripPass, PlaceInResults, Rematerialize, ReuseMemory";
  EXPECT_EQ(message_of<ValueError>([&] { run_passes(graph, constants, {.disabled = {"DeadNode"}}); }),
            "PassOptions::disabled names DeadNode, " + cure);
  Options changed = options();
  changed.disable_passes = "NoGradStripPass,CSE";
  const OptionsScope scope(changed);
  EXPECT_EQ(message_of<ValueError>([&] { run_passes(graph, constants); }), "LUCID_DISABLE_PASSES names CSE, " + cure);
  EXPECT_EQ(graph, example());
}

TEST(Runner, PlanPassesKeepTheirFormerNamesAsAliases) {
  Options changed = options();
  changed.disable_passes = "Rematerialize,Recompute,LaunchBeside,OverwriteState";
  const OptionsScope scope(changed);
  IRGraph graph = example();
  ConstantPool constants;
  EXPECT_EQ(names_of(run_passes(graph, constants)).size(), 6u);
  EXPECT_EQ(parse_pass_names(changed.disable_passes),
            (PassNames{"Rematerialize", "HorizontalFusion", "DonateBuffers"}));
}

/// Replaces every exp by an exp2.
class OwnPass : public Pass {
 public:
  std::string name() const override { return "OwnPass"; }
  bool run(IRGraph& graph, ConstantPool&) override {
    for (IRNode& node : graph.nodes)
      if (node.op->name() == "exp") node.op = &op_table().at("exp2");
    return true;
  }
};

TEST(Runner, RunsAnyListOfPasses) {
  IRGraph graph = example();
  ConstantPool constants;
  PassList passes = standard_passes();
  passes.insert(passes.begin(), std::make_shared<OwnPass>());
  EXPECT_EQ(run_passes(graph, constants, passes).runs.front().name, "OwnPass");
  EXPECT_EQ(graph.nodes.front().op->name(), "exp2");
  EXPECT_EQ(names_of(run_passes(graph, constants, {std::make_shared<OwnPass>()}, {.disabled = {"OwnPass"}})),
            std::vector<std::string>{});
}

class BrokenPass : public Pass {
 public:
  explicit BrokenPass(std::function<void(IRGraph&, ConstantPool&)> damage) : damage_(std::move(damage)) {}
  std::string name() const override { return "BrokenPass"; }
  bool run(IRGraph& graph, ConstantPool& constants) override {
    damage_(graph, constants);
    return true;
  }

 private:
  std::function<void(IRGraph&, ConstantPool&)> damage_;
};

std::string error_after(std::function<void(IRGraph&, ConstantPool&)> damage, bool verify = true) {
  IRGraph graph = example();
  ConstantPool constants;
  const PassList passes = {std::make_shared<BrokenPass>(std::move(damage))};
  return message_of<InternalError>([&] { run_passes(graph, constants, passes, {.verify = verify}); });
}

TEST(Runner, NamesThePassThatBreaksAGraph) {
  const auto drop_first = [](IRGraph& graph, ConstantPool&) { graph.nodes.erase(graph.nodes.begin()); };
  const std::string error = error_after(drop_first);
  EXPECT_EQ(error.substr(0, error.find('\n')),
            "after BrokenPass: graph f is malformed: operand %1 is used before it is defined");
  EXPECT_NE(error.find("> %4: f32[4] = mul(%1, %2)"), std::string::npos) << error;
  EXPECT_EQ(error_after(drop_first, false), "did not throw");
}

TEST(Runner, NamesThePassThatBreaksConstants) {
  EXPECT_EQ(error_after([](IRGraph&, ConstantPool& constants) { constants[0] = {}; }),
            "after BrokenPass: graph f is malformed: there is data for %0, which is not a constant");
  const auto with_data = [](TensorType type, size_t bytes) {
    return [=](IRGraph& graph, ConstantPool& constants) {
      graph.constant_ids.push_back(graph.add_value({Dtype::kF32, {2}}));
      constants[graph.constant_ids.back()] = {type, std::vector<std::byte>(bytes)};
    };
  };
  EXPECT_EQ(error_after(with_data({Dtype::kI32, {2}}, 8)),
            "after BrokenPass: graph f is malformed: %5 is f32[2], but its data is i32[2]");
  EXPECT_EQ(error_after(with_data({Dtype::kF32, {2}}, 7)),
            "after BrokenPass: graph f is malformed: %5 of type f32[2] has 7 bytes of data");
}

TEST(Runner, LogsChangedLinesIfEnabled) {
  std::string logged;
  const LogScope sink([&](std::string_view topic, std::string_view text) {
    EXPECT_EQ(topic, "passes");
    logged.append(text);
  });
  ConstantPool constants;
  IRGraph graph = example();
  run_passes(graph, constants);
  EXPECT_EQ(logged, "");
  Options changed = options();
  changed.log = "cache,passes";
  const OptionsScope scope(changed);
  graph = example();
  run_passes(graph, constants, {.disabled = {"NoGradStripPass"}});
  EXPECT_EQ(logged, R"(DeadNodeElimPass on f:
-   %3: f32[4] = sin(%0)
CommonSubexpressionPass on f:
-   %2: f32[4] = exp(%0)  ; f.py:2
-   %4: f32[4] = mul(%1, %2)
+   %4: f32[4] = mul(%1, %1)
)");
}

TEST(Runner, ChangedLinesKeepTheirOrder) {
  EXPECT_EQ(changed_lines("a\nb\nc\n", "a\nb\nc\n"), "");
  EXPECT_EQ(changed_lines("a\nb\nc\nd\n", "x\na\ny\nz\nd\nw\n"), "+ x\n- b\n- c\n+ y\n+ z\n+ w\n");
  EXPECT_EQ(changed_lines("", "a\n"), "+ a\n");
  EXPECT_EQ(changed_lines("a\n", ""), "- a\n");
}

}  // namespace
}  // namespace lucid
