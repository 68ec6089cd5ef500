#include "passes/may_raise.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/node_call.h"
#include "samples.h"

namespace lucid {
namespace {

TEST(MayRaise, IsTrueForOpsThatCheckOrRunOnTheHostAndForTheirComposites) {
  std::set<std::string> raising;
  for (const Op& op : op_table().ops()) {
    for (const Sample& sample : op.samples) {
      const test::SampleCall call(op, sample, test::dtypes_of(op).back());
      if (may_raise(call.call())) raising.insert(op.name());
    }
  }
  for (const char* name : {"index_select", "gather", "floor_divide", "remainder", "fmod", "sort", "nonzero",
                           "embedding", "nll_loss", "scatter", "masked_select", "random_multinomial", "topk", "median"})
    EXPECT_TRUE(raising.contains(name)) << name;
  for (const char* name : {"add", "softmax", "linear", "layer_norm", "random_uniform", "adam_step", "reshape", "conv2d",
                           "max_pool2d", "cat", "where"})
    EXPECT_FALSE(raising.contains(name)) << name;
}

bool node_may_raise(const std::string& text) {
  const IRGraph graph = parse_graph(text);
  return may_raise(NodeCall(graph, graph.nodes.back()).call());
}

TEST(MayRaise, IsFalseIfThereIsNothingToCheck) {
  EXPECT_FALSE(
      node_may_raise("graph f(%0: f32[5,0] input, %1: i64[2] input) -> (%2) {\n"
                     "  %2: f32[2,0] = index_select(%0, %1) {dim=0}\n}\n"));
  EXPECT_TRUE(
      node_may_raise("graph f(%0: f32[5,3] input, %1: i64[2] input) -> (%2) {\n"
                     "  %2: f32[2,3] = index_select(%0, %1) {dim=0}\n}\n"));
  EXPECT_FALSE(
      node_may_raise("graph f(%0: f32[5,3] input, %1: i64[0] input, %2: f32[0,3] input) -> (%3) {\n"
                     "  %3: f32[5,3] = index_add(%0, %1, %2) {dim=0}\n}\n"));
  EXPECT_TRUE(
      node_may_raise("graph f(%0: f32[0,3] input, %1: i64[1] input, %2: f32[1,3] input) -> (%3) {\n"
                     "  %3: f32[0,3] = index_add(%0, %1, %2) {dim=0}\n}\n"));
}

TEST(MayRaise, IntegersMayBeDividedByNumbersOtherThanZero) {
  const auto divided_by = [](const std::string& number) {
    return node_may_raise("graph f(%0: i64[5] input) -> (%1) {\n  %1: i64[5] = floor_divide(%0, " + number + ")\n}\n");
  };
  EXPECT_FALSE(divided_by("3"));
  EXPECT_TRUE(divided_by("0"));
}

}  // namespace
}  // namespace lucid
