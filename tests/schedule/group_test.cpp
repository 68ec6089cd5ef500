#include "schedule/group.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/graph_emitter.h"

namespace lucid {
namespace {

size_t largest_of(const std::vector<Group>& groups) {
  size_t largest = 0;
  for (const Group& group : groups) largest = std::max(largest, group.nodes.size());
  return largest;
}

TEST(GroupNodes, ALongChainIsCutIntoKernelsOfBoundedSize) {
  IRGraph graph;
  GraphEmitter e(graph);
  Value x = e.value(graph.add_input({Dtype::kF32, {32, 32}}));
  for (int i = 0; i < 1000; ++i) x = e.tanh(x);
  graph.output_ids = {GraphEmitter::id_of(x)};
  const std::vector<Group> groups = group_nodes(graph);
  EXPECT_EQ(largest_of(groups), 64u);
  EXPECT_EQ(groups.size(), 16u);
}

TEST(GroupNodes, JoinedGroupsAreOfBoundedSizeToo) {
  IRGraph graph;
  GraphEmitter e(graph);
  const Value x = e.value(graph.add_input({Dtype::kF32, {32, 32}}));
  for (int i = 0; i < 100; ++i) {
    Value y = x;
    for (int k = 0; k < 20; ++k) y = e.tanh(y);
    graph.output_ids.push_back(GraphEmitter::id_of(y));
  }
  const std::vector<Group> groups = group_nodes(graph);
  EXPECT_EQ(largest_of(groups), 60u);
  EXPECT_EQ(groups.size(), 34u);
}

TEST(GroupNodes, ResultsThatAreReadInBetweenKeepGroupsApart) {
  IRGraph graph;
  GraphEmitter e(graph);
  const Value x = e.value(graph.add_input({Dtype::kF32, {8, 8}}));
  const Value first = e.exp(x);
  const Value sum = e.sum(first, Dims{1}, true);
  const Value last = e.mul(x, sum);
  graph.output_ids = {GraphEmitter::id_of(first), GraphEmitter::id_of(last)};
  // exp and mul both read x, but the sum between them needs the result of exp.
  EXPECT_EQ(group_nodes(graph).size(), 3u);
}

}  // namespace
}  // namespace lucid
