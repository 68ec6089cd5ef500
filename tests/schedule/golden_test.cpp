#include "golden.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <sstream>

#include "schedule/group.h"
#include "schedule/schedule.h"
#include "schedule/stages.h"

// The *.test files in this folder show how graphs of primitives are scheduled. Inputs are contiguous, unless lines
// before the graph say otherwise ("strides %0 = 1 64"). The commands:
//
//   group          which nodes are computed in one kernel, and which results are stored
//   kernels        the steps as they are written
//   place          the values that are stored in the memory of a result
//   fuse           the steps after fuse_steps()
//   horizontal     the steps after fuse_horizontally()
//   remat          the graph after rematerialize() with a threshold of 0 bytes
namespace lucid {
namespace {

struct Source {
  IRGraph graph;
  std::map<ValueId, Geometry> inputs;
};

Source parse(const std::string& text) {
  const size_t start = text.find("graph ");
  Source source{parse_graph(text.substr(start)), {}};
  verify(source.graph);
  for (ValueId id : source.graph.input_ids) {
    const Dims& shape = source.graph.type(id).shape;
    source.inputs[id] = {shape, contiguous_strides(shape), 0};
  }
  std::istringstream lines(text.substr(0, start));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    char percent = 0;
    ValueId id = -1;
    words >> word >> percent >> id >> word;
    for (SymInt& stride : source.inputs.at(id).strides) {
      int64_t number = 0;
      words >> number;
      stride = number;
    }
  }
  return source;
}

std::string group_text(const IRGraph& graph) {
  std::string text;
  for (const Group& group : group_nodes(graph)) {
    std::vector<std::string> names, roots;
    for (size_t node : group.nodes) names.push_back(graph.nodes[node].op->name());
    for (size_t root : group.roots) roots.push_back(fmt::format("%{}", graph.nodes[root].outputs[0]));
    text += fmt::format("{} -> {}\n", fmt::join(names, " "), fmt::join(roots, ", "));
  }
  return text;
}

std::string place_text(const IRGraph& graph, const std::map<ValueId, Layout>& layouts) {
  std::string text;
  for (const IRNode& node : graph.nodes)
    if (const ValueId id = node.outputs[0]; !node.op->view && layouts.at(id).storage != id)
      text += fmt::format("%{} in %{}\n", id, layouts.at(id).storage);
  return text.empty() ? "none\n" : text;
}

std::string result_of(const std::string& command, Source& source) {
  IRGraph& graph = source.graph;
  if (command == "group") return group_text(graph);
  std::map<ValueId, Layout> layouts = assign_layouts(graph, source.inputs);
  if (command == "remat") {
    const bool changed = rematerialize(graph, layouts, {}, 0);
    verify(graph);
    return changed ? to_text(graph) : "unchanged\n";
  }
  if (command == "place") {
    place_in_results(graph, layouts);
    return place_text(graph, layouts);
  }
  Schedule schedule = schedule_graph(graph, std::move(layouts));
  number_stages(schedule);
  std::set<ValueId> outside(graph.input_ids.begin(), graph.input_ids.end());
  for (ValueId id : graph.output_ids) outside.insert(schedule.layouts.at(id).storage);
  if (command == "fuse") fuse_steps(schedule, outside);
  if (command == "horizontal") fuse_horizontally(schedule, outside);
  return to_text(graph, schedule);
}

class ScheduleGolden : public testing::TestWithParam<test::GoldenCase> {};

TEST_P(ScheduleGolden, GivesTheExpectedText) {
  Source source = parse(GetParam().before);
  test::expect_golden(GetParam(), result_of(GetParam().command, source));
}

INSTANTIATE_TEST_SUITE_P(Files, ScheduleGolden, testing::ValuesIn(test::read_golden_cases(LUCID_TEST_DIR)),
                         test::golden_test_name);

TEST(ScheduleGolden, FilesAreThere) { EXPECT_GT(test::read_golden_cases(LUCID_TEST_DIR).size(), 25u); }

}  // namespace
}  // namespace lucid
