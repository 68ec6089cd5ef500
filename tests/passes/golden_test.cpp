#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/scanner.h"
#include "passes/pipeline.h"
#include "passes/runner.h"
#include "run_graph.h"

// The files *.test beside this one: what a pass makes of a graph, as text.
//
//   ## what is shown
//   data %1 = 1 2                        elements of a constant
//   graph f(...) -> (...) { ... }
//   --- TheNameOfThePass                 and " unchanged" where the graph stays as it is
//   data %1 = 1 2
//   graph f(...) -> (...) { ... }
namespace lucid {
namespace {

struct State {
  IRGraph graph;
  ConstantPool constants;
};

struct Case {
  std::string file, name, pass, before, after;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.file << ": " << c.name; }

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(LUCID_TEST_DIR))
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& path : files) {
    std::ifstream file(path);
    bool is_after = false;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("## ")) {
        cases.push_back({.file = path.filename(), .name = line.substr(3)});
        is_after = false;
      } else if (line.starts_with("--- ")) {
        is_after = true;
        std::istringstream words(line.substr(4));
        std::string more;
        words >> cases.back().pass >> more;
        if (more == "unchanged") cases.back().after = cases.back().before;
      } else if (!line.empty() && !line.starts_with("# ")) {
        (is_after ? cases.back().after : cases.back().before) += line + '\n';
      }
    }
  }
  return cases;
}

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
      // The number forms of graph text.
      const Attribute number = Scanner("data", word).attribute();
      const Scalar value = std::holds_alternative<double>(number) ? Scalar(std::get<double>(number))
                           : std::holds_alternative<bool>(number) ? Scalar(std::get<bool>(number))
                                                                  : Scalar(std::get<int64_t>(number));
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
  for (const auto& pass : standard_passes(Gradients::kDone))
    if (pass->name() == name) return pass;
  return nullptr;
}

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, PassGivesTheTextBeside) {
  const Case& c = GetParam();
  State state = parse(c.before);
  ASSERT_EQ(print(state), c.before) << "the text before is not as graphs print";
  ASSERT_NO_THROW(verify(state.graph));
  const auto pass = find_pass(c.pass);
  ASSERT_TRUE(pass) << "no pass is called " << c.pass;
  const PassReport report = run_passes(state.graph, state.constants, PassList{pass});
  EXPECT_EQ(print(state), c.after);
  EXPECT_EQ(report.runs.front().changed, c.before != c.after);
  EXPECT_EQ(parse_graph(to_text(state.graph)), state.graph);
  // What it leaves it leaves for good.
  EXPECT_FALSE(run_passes(state.graph, state.constants, PassList{pass}).runs.front().changed) << print(state);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(read_cases()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param.file).stem().string() + "_" + info.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

TEST(Golden, FilesAreThere) { EXPECT_GT(read_cases().size(), 40u); }

}  // namespace
}  // namespace lucid
