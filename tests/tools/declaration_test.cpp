#include "signatures/declaration.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lucid::signatures {
namespace {

TEST(Declarations, HaveOptionsWithKindsAndDefaults) {
  const auto options =
      parse_declaration("(size: int! = 1, _bias: bool = True, *, eps: float? = 1e-5, name: str = 'a')");
  ASSERT_EQ(options.size(), 4u);
  EXPECT_EQ(options[0].dump(),
            R"({"name":"size","kind":"int","only":"","optional":false,"private":false,"keyword_only":false,)"
            R"("required":true,"default":"1"})");
  EXPECT_EQ(options[1]["name"], "bias");
  EXPECT_EQ(options[1]["private"], true);
  EXPECT_EQ(options[1]["default"], "True");
  EXPECT_EQ(options[1]["required"], false);
  EXPECT_EQ(options[2]["optional"], true);
  EXPECT_EQ(options[2]["keyword_only"], true);
  EXPECT_EQ(options[3]["default"], "\"a\"");
}

TEST(Declarations, KeepNumbersAsTheyAreWritten) {
  const auto options = parse_declaration("(lr: rate = 1e-3, betas: pair = (0.9, 0.999) , t0: float = 1e6)");
  EXPECT_EQ(options[0]["default"], "1e-3");
  EXPECT_EQ(options[1]["default"], "(0.9, 0.999)");
  EXPECT_EQ(options[2]["default"], "1e6");
}

TEST(Declarations, MayBeOfOneLanguage) {
  const auto options = parse_declaration("(cpp layer: module? = None, python _weight: tensor? = None)");
  EXPECT_EQ(options[0]["only"], "cpp");
  EXPECT_EQ(options[1]["only"], "python");
  EXPECT_EQ(options[1]["name"], "_weight");
}

TEST(Declarations, MayStandForAnEarlierParameter) {
  const auto options = parse_declaration("(size: sizes, stride: sizes? = size)");
  EXPECT_EQ(options[1]["same_as"], "size");
  EXPECT_EQ(options[1]["default"], "None");
}

TEST(Declarations, AreChecked) {
  for (const char* text : {"", "(a)", "(a: integer)", "(a: int", "(a: int) b", "(a: int, a: int)", "(a: int = b)",
                           "(a: int, b: int = a)", "(a: int = )", "(cpp: int)", "(a: pair = (1.0, 2.0)"})
    EXPECT_THROW(parse_declaration(text), std::runtime_error) << text;
}

}  // namespace
}  // namespace lucid::signatures
