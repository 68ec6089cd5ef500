#include "golden.h"

#include <gtest/gtest.h>

#include <sstream>

#include "ir/scanner.h"
#include "passes/pipeline.h"
#include "passes/runner.h"
#include "run_graph.h"

// The *.test files in this folder: the effect of a pass on a graph, as text.
//
//   ## title
//   data %1 = 1 2                        elements of a constant
//   graph f(...) -> (...) { ... }
//   --- TheNameOfThePass                 followed by " unchanged" if the graph does not change
//   data %1 = 1 2
//   graph f(...) -> (...) { ... }
namespace lucid {
namespace {

struct State {
  IRGraph graph;
  ConstantPool constants;
};

State parse(const std::string& text) {
  const size_t start = text.find("graph ");
  State state{parse_graph(text.substr(start)), {}};
  std::istringstream lines(text.substr(0, start));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    char percent = 0;
    ValueId id = -1;
    words >> word >> percent >> id >> word;
    const TensorType& type = state.graph.type(id);
    ConstantData data{type, std::vector<std::byte>(static_cast<size_t>(numel(type.shape)) * size_of(type.dtype))};
    for (size_t at = 0; at < data.bytes.size(); at += size_of(type.dtype)) {
      words >> word;
      // Numbers as in the text form of graphs.
      const Attribute number = Scanner("data", word).attribute();
      const Scalar value = std::holds_alternative<double>(number) ? Scalar(std::get<double>(number))
                           : std::holds_alternative<bool>(number) ? Scalar(std::get<bool>(number))
                                                                  : Scalar(int64_t{std::get<SymInt>(number)});
      value.store(type.dtype, &data.bytes[at]);
    }
    state.constants[id] = std::move(data);
  }
  return state;
}

std::string print(const State& state) {
  std::string text;
  for (const auto& [id, data] : state.constants) {
    text += fmt::format("data %{} =", id);
    for (size_t at = 0; at < data.bytes.size(); at += size_of(data.type.dtype))
      text += ' ' + to_string(Scalar::load(data.type.dtype, &data.bytes[at]));
    text += '\n';
  }
  return text + to_text(state.graph);
}

std::shared_ptr<Pass> find_pass(const std::string& name) {
  for (const auto& pass : standard_passes())
    if (pass->name() == name) return pass;
  return nullptr;
}

class Golden : public testing::TestWithParam<test::GoldenCase> {};

TEST_P(Golden, PassProducesTheExpectedText) {
  const test::GoldenCase& c = GetParam();
  State state = parse(c.before);
  ASSERT_EQ(print(state), c.before) << "the text before is not as graphs print";
  ASSERT_NO_THROW(verify(state.graph));
  std::istringstream words(c.command);
  std::string name, more;
  words >> name >> more;
  const bool stays = more == "unchanged";
  const auto pass = find_pass(name);
  ASSERT_TRUE(pass) << "no pass is called " << name;
  const PassReport report = run_passes(state.graph, state.constants, PassList{pass});
  if (stays)
    EXPECT_EQ(print(state), c.before);
  else
    test::expect_golden(c, print(state));
  EXPECT_EQ(report.runs.front().changed, !stays);
  EXPECT_EQ(parse_graph(to_text(state.graph)), state.graph);
  // Passes are idempotent.
  EXPECT_FALSE(run_passes(state.graph, state.constants, PassList{pass}).runs.front().changed) << print(state);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(test::read_golden_cases(LUCID_TEST_DIR)),
                         test::golden_test_name);

TEST(Golden, FilesAreFound) { EXPECT_GT(test::read_golden_cases(LUCID_TEST_DIR).size(), 40u); }

}  // namespace
}  // namespace lucid
