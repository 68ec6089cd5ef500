#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

/// The *.test files in the folder of a test: the effect of a command on a text.
///
///   ## title
///   text before
///   --- command
///   text after
///
/// Lines that begin with "# " are comments. With LUCID_WRITE_GOLDEN=1 in the environment, texts that differ are written
/// to the files instead; read the difference before it is committed.
namespace lucid::test {

struct GoldenCase {
  std::filesystem::path path;
  std::string name, command, before, after;
};

inline void PrintTo(const GoldenCase& c, std::ostream* out) { *out << c.path.filename().string() << ": " << c.name; }

inline std::vector<GoldenCase> read_golden_cases(const std::filesystem::path& folder) {
  std::vector<GoldenCase> cases;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& path : files) {
    std::ifstream file(path);
    bool is_after = false;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("## ")) {
        cases.push_back({.path = path, .name = line.substr(3)});
        is_after = false;
      } else if (line.starts_with("--- ")) {
        is_after = true;
        cases.back().command = line.substr(4);
      } else if (!line.empty() && !line.starts_with("# ")) {
        (is_after ? cases.back().after : cases.back().before) += line + '\n';
      }
    }
  }
  return cases;
}

inline std::string golden_test_name(const testing::TestParamInfo<GoldenCase>& info) {
  std::string name = info.param.path.stem().string() + "_" + info.param.name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

inline void expect_golden(const GoldenCase& c, const std::string& actual) {
  if (actual == c.after || !std::getenv("LUCID_WRITE_GOLDEN")) {
    EXPECT_EQ(actual, c.after);
    return;
  }
  std::ostringstream text;
  text << std::ifstream(c.path).rdbuf();
  const std::string head = "## " + c.name + '\n' + c.before + "--- " + c.command + '\n';
  std::string all = text.str();
  const size_t at = all.find(head + c.after);
  ASSERT_NE(at, std::string::npos) << "comments or empty lines within a case";
  std::ofstream(c.path) << all.replace(at + head.size(), c.after.size(), actual);
}

}  // namespace lucid::test
