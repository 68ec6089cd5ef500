#include "signatures/entries.h"

#include <gtest/gtest.h>

namespace lucid::signatures {
namespace {

std::vector<Entry> read(std::string_view text) { return EntryReader("file.cpp", text).read(); }

std::string message_of(std::string_view text) {
  try {
    read(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Entries, AreFoundWithTheirDocumentation) {
  const auto entries = read(R"source(
      ops.push_back({.signature = "f(x)", .doc = "One.", .ulp = 1});
      ops.push_back({
          .signature =
              "h(x, "
              "y)",
          .doc = R"(Two.

>>> h("a\n"))",
      });
  )source");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].signature, "f(x)");
  EXPECT_EQ(entries[0].doc, "One.");
  EXPECT_EQ(entries[1].signature, "h(x, y)");
  EXPECT_EQ(entries[1].doc, "Two.\n\n>>> h(\"a\\n\")");
}

TEST(Entries, HaveTheirEscapesRead) {
  const auto entries = read(R"source({.signature = "f(s: str = \"a\")", .doc = "\\ \'\n"})source");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].signature, "f(s: str = \"a\")");
  EXPECT_EQ(entries[0].doc, "\\ '\n");
}

TEST(Entries, MustBeLiterals) {
  EXPECT_EQ(message_of("\n\n{.signature = name + \"(x)\"}").substr(0, 18), "file.cpp:3: write ");
  EXPECT_NE(message_of("{.signature = \"f(x)\", .doc = text}"), "");
  EXPECT_NE(message_of("{.signature = \"f(x)"), "");
  EXPECT_NE(message_of("{.signature = \"f(x)\n\"}"), "");
  EXPECT_NE(message_of("{.signature = \"f(x)\", .doc = R\"(never ends"), "");
  EXPECT_NE(message_of("{.signature = \"\\t\"}"), "");
}

TEST(Entries, HaveTheirDocumentationRightAfterTheSignature) {
  EXPECT_NE(message_of("{.signature = \"f(x)\"}"), "");
  EXPECT_NE(message_of("{.signature = \"f(x)\", .ulp = 1, .doc = \"One.\"}"), "");
}

TEST(Classes, HaveANameAndASignatureOrThatOfAnotherClass) {
  const std::string_view text = R"source(
  static constexpr const char* kName = "Scale";
  static constexpr const char* kSignature =
      "(init: float = 1.0, "
      "inplace: bool = False)";
  static constexpr const char* kName = "Other";
  static constexpr const char* kSignature = Scale::kSignature;
  static constexpr const char* kName = "Plain";
  using Layer::Layer;
  )source";
  const auto classes = EntryReader("file.h", text).read_classes();
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_EQ(classes[0].name, "Scale");
  EXPECT_EQ(classes[0].signature, "(init: float = 1.0, inplace: bool = False)");
  EXPECT_EQ(classes[1].like, "Scale");
  EXPECT_EQ(classes[2].signature + classes[2].like, "");
}

TEST(Classes, MayBeEntriesWithAName) {
  const std::string_view text = R"source(return {.name = "SGD", .signature = "(lr: rate = 0.1)", .check = f};)source";
  const auto classes = EntryReader("file.cpp", text).read_classes();
  ASSERT_EQ(classes.size(), 1u);
  EXPECT_EQ(classes[0].name, "SGD");
  EXPECT_EQ(classes[0].signature, "(lr: rate = 0.1)");
}

TEST(Entries, AreNotEveryUseOfASignature) {
  EXPECT_TRUE(read("log(op.signature); parse_schema(op.signature);").empty());
}

}  // namespace
}  // namespace lucid::signatures
