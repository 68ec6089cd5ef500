#include "random_graph.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "passes/pipeline.h"
#include "passes/runner.h"

// The invariants of every pass, on random graphs.
namespace lucid {
namespace {

class Passes : public testing::TestWithParam<std::string> {
 protected:
  static PassList passes() {
    PassList all = standard_passes();
    if (GetParam() != "all") std::erase_if(all, [](const auto& pass) { return pass->name() != GetParam(); });
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Each, Passes,
                         testing::Values("all", "DeadNodeElimPass", "NoGradStripPass", "ConstantFoldPass",
                                         "ExactIdentityPass", "CommonSubexpressionPass"),
                         [](const auto& info) { return info.param; });

/// Checks that the nodes in `kept` have the same order as in `all`, and the same source locations.
void expect_in_order(const std::vector<IRNode>& kept, const std::vector<IRNode>& all) {
  size_t at = 0;
  for (const IRNode& node : kept) {
    while (at < all.size() && all[at].outputs != node.outputs) ++at;
    ASSERT_LT(at, all.size()) << "a node is new or moved";
    EXPECT_EQ(node.source, all[at].source);
  }
}

TEST_P(Passes, KeepBitsOrderAndText) {
  size_t changed = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const test::RandomGraph random(seed, 5 + seed % 30);
    SCOPED_TRACE(to_text(random.graph));
    ASSERT_NO_THROW(verify(random.graph));
    IRGraph graph = random.graph;
    ConstantPool constants = random.constants;
    const PassReport report = run_passes(graph, constants, passes());
    SCOPED_TRACE(to_text(graph));
    for (const PassRun& run : report.runs) changed += run.changed;
    ASSERT_EQ(parse_graph(to_text(graph)), graph);
    expect_in_order(graph.nodes, random.graph.nodes);
    ASSERT_EQ(graph.input_ids, random.graph.input_ids);
    ASSERT_EQ(graph.state_ids, random.graph.state_ids);
    ASSERT_EQ(test::run_graph(graph, constants, random.leaves),
              test::run_graph(random.graph, random.constants, random.leaves));
    if (HasFailure()) return;
  }
  EXPECT_GT(changed, 100u) << "the graphs give the pass too little to do";
}

}  // namespace
}  // namespace lucid
