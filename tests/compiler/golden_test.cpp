#include "golden.h"

#include <gtest/gtest.h>

#include <sstream>

#include "draft.h"

// The *.test files in this folder show the schedule of a graph and the locations of its buffers. Lines before the graph
// list the outputs that replace inputs afterwards ("update 0 1": output 1 replaces input 0). The command is "plan",
// followed by the names of passes to leave out.
namespace lucid {
namespace {

class PlanGolden : public testing::TestWithParam<test::GoldenCase> {};

TEST_P(PlanGolden, GivesTheExpectedText) {
  const test::GoldenCase& c = GetParam();
  const size_t start = c.before.find("graph ");
  std::vector<PlanUpdate> updates;
  std::istringstream lines(c.before.substr(0, start));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word >> updates.emplace_back().input >> updates.back().output;
    ASSERT_EQ(word, "update");
  }
  std::istringstream words(c.command);
  std::vector<std::string> without;
  for (std::string word; words >> word;) without.push_back(word);
  ASSERT_EQ(without.front(), "plan");
  PlanDraft draft = test::draft_of(c.before.substr(start), updates);
  run_plan_passes(draft, test::passes_without({without.begin() + 1, without.end()}));
  test::expect_golden(c, schedule_text(draft));
}

INSTANTIATE_TEST_SUITE_P(Files, PlanGolden, testing::ValuesIn(test::read_golden_cases(LUCID_TEST_DIR)),
                         test::golden_test_name);

TEST(PlanGolden, FilesAreThere) { EXPECT_GT(test::read_golden_cases(LUCID_TEST_DIR).size(), 10u); }

}  // namespace
}  // namespace lucid
