#include "ir/schema.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace lucid {
namespace {

TEST(Schema, ReadsEveryKindOfParameter) {
  const Schema schema = parse_schema(
      "f(x, xs: tensors, bias? = None, a: bool = True, b: int = -3, c: float = 2, d: ints = 4, e: ints*, *, g: dtype? "
      "= None, "
      "h: str = 'mean', i: axis = -1, j: axes* = [0, -1])");
  EXPECT_EQ(schema.name, "f");
  ASSERT_EQ(schema.parameters.size(), 12u);
  EXPECT_EQ(schema.parameters[0].kind, ParameterKind::kTensor);
  EXPECT_EQ(schema.parameters[1].kind, ParameterKind::kTensors);
  EXPECT_TRUE(schema.parameters[2].optional);
  EXPECT_EQ(std::get<bool>(schema.parameters[3].default_value), true);
  EXPECT_EQ(std::get<SymInt>(schema.parameters[4].default_value), -3);
  EXPECT_EQ(std::get<double>(schema.parameters[5].default_value), 2.0);
  EXPECT_EQ(std::get<Dims>(schema.parameters[6].default_value), Dims{4});
  EXPECT_EQ(schema.parameters[7].kind, ParameterKind::kInts);
  EXPECT_FALSE(schema.parameters[6].spread);
  EXPECT_TRUE(schema.parameters[7].spread);
  EXPECT_FALSE(schema.parameters[7].keyword_only);
  EXPECT_TRUE(schema.parameters[8].keyword_only);
  EXPECT_EQ(std::get<std::string>(schema.parameters[9].default_value), "mean");
  EXPECT_EQ(schema.parameters[10].kind, ParameterKind::kAxis);
  EXPECT_EQ(std::get<SymInt>(schema.parameters[10].default_value), -1);
  EXPECT_EQ(schema.parameters[11].kind, ParameterKind::kAxes);
  EXPECT_TRUE(schema.parameters[11].spread);
  EXPECT_EQ(std::get<Dims>(schema.parameters[11].default_value), (Dims{0, -1}));
}

TEST(Schema, FindsPositionsAmongOperandsAndAttributes) {
  const Schema schema = parse_schema("f(dim: axis, x, keepdim: bool = False, y? = None)");
  EXPECT_EQ(schema.attribute_index("dim"), 0);
  EXPECT_EQ(schema.attribute_index("keepdim"), 1);
  EXPECT_EQ(schema.attribute_index("x"), -1);
  EXPECT_EQ(schema.operand_index("x"), 0);
  EXPECT_EQ(schema.operand_index("y"), 1);
  EXPECT_EQ(schema.operand_index("dim"), -1);
}

TEST(Schema, ReadsResults) {
  EXPECT_TRUE(parse_schema("f(x)").results.empty());
  EXPECT_EQ(parse_schema("f(x) -> values, indices").results, (std::vector<std::string>{"values", "indices"}));
  EXPECT_TRUE(parse_schema("f(x) -> tensors").returns_list);
}

TEST(Schema, ParsesWhatItPrints) {
  for (const char* text :
       {"f()", "f(x, y? = none)", "f(xs: tensors, *, dtype: dtype = bf16)", "f(x, a: float = inf, b: ints* = [1,2])",
        "f(x, dim: axis = -1, dims: axes*? = none)", "f(x, s: str = \"a\\\"b\\x07\\n\") -> a, b", "f(x) -> tensors"}) {
    const std::string printed = parse_schema(text).to_string();
    EXPECT_EQ(printed, parse_schema(printed).to_string());
    EXPECT_EQ(printed, text);
  }
}

TEST(Schema, RejectsInvalidSignatures) {
  for (const char* text :
       {"", "f", "f(", "f(x", "f(x,,y)", "f(x: tensr)", "f(x = 3)", "f(a: int = 0.5)", "f(a: int = None)", "f(a: int*)",
        "f(a: axis = [1])", "f(x, x)", "f(a: tensors, b: tensors)", "f(x) -> one", "f(x) y", "f(a: str = 'b)", "f(1)"})
    EXPECT_THROW(parse_schema(text), InternalError) << text;
}

TEST(Attribute, ConvertsIntegersToFloatsAndLists) {
  const Schema schema = parse_schema("f(a: float, b: ints, c: int? = None, d: bool)");
  const auto& p = schema.parameters;
  EXPECT_EQ(convert_attribute(p[0], int64_t{3}), Attribute(3.0));
  EXPECT_EQ(convert_attribute(p[1], int64_t{3}), Attribute(Dims{3}));
  EXPECT_EQ(convert_attribute(p[2], std::monostate()), Attribute());
  EXPECT_EQ(convert_attribute(p[0], std::monostate()), std::nullopt);
  EXPECT_EQ(convert_attribute(p[2], 0.5), std::nullopt);
  EXPECT_EQ(convert_attribute(p[3], int64_t{1}), std::nullopt);
}

TEST(Attribute, HashSeparatesTypesAndOrder) {
  EXPECT_NE(hash_of({int64_t{1}}), hash_of({true}));
  EXPECT_NE(hash_of({int64_t{1}, int64_t{2}}), hash_of({int64_t{2}, int64_t{1}}));
  EXPECT_NE(hash_of({Dims{1, 2}}), hash_of({Dims{12}}));
  EXPECT_NE(hash_of({0.0}), hash_of({-0.0}));
  EXPECT_EQ(hash_of({std::string("mean"), 0.5}), hash_of({std::string("mean"), 0.5}));
}

}  // namespace
}  // namespace lucid
