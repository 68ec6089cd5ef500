#include "ir/schema_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ir/aliases.h"

namespace lucid {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

Names aliases(std::string_view signature, size_t parameter) {
  const Schema schema = parse_schema(signature);
  const auto found = aliases_of(schema, schema.parameters[parameter]);
  return {found.begin(), found.end()};
}

TEST(Aliases, AreTheNamesInNumPyAndPyTorch) {
  EXPECT_EQ(aliases("f(x, dim: axis)", 0), Names{"input"});
  EXPECT_EQ(aliases("f(x, dim: axis)", 1), Names{"axis"});
  EXPECT_EQ(aliases("f(x, dim0: axis, dim: axes)", 1), Names{"axis0"});
  EXPECT_EQ(aliases("f(x, dim0: axis, dim: axes)", 2), Names{"axis"});
  EXPECT_EQ(aliases("f(x, dim: int)", 1), Names{}) << "no axis";
  EXPECT_EQ(aliases("f(x, dims: axes*)", 1), (Names{"axes", "axis", "dim"}));
  EXPECT_EQ(aliases("f(weight)", 0), Names{});
}

TEST(Aliases, ExcludeNamesOfOtherParameters) {
  EXPECT_EQ(aliases("f(x, input, dim: axis, dims: axes)", 0), Names{});
  EXPECT_EQ(aliases("f(x, input, dim: axis, dims: axes)", 3), (Names{"axes", "axis"}));
  EXPECT_EQ(aliases("f(size: ints, shape: ints)", 0), Names{});
}

TEST(SchemaJson, ContainsTheWholeSignature) {
  const Schema schema = parse_schema("f(x, dims: axes* = 1, *, dtype: dtype? = None) -> values, indices");
  EXPECT_EQ(to_json(schema), Json::parse(R"({
    "name": "f",
    "parameters": [
      {"name": "x", "kind": "tensor", "spread": false, "optional": false, "keyword_only": false, "aliases": ["input"]},
      {"name": "dims", "kind": "axes", "spread": true, "optional": false, "keyword_only": false,
       "aliases": ["axes", "axis", "dim"], "default": [1]},
      {"name": "dtype", "kind": "dtype", "spread": false, "optional": true, "keyword_only": true, "aliases": [],
       "default": null}],
    "results": ["values", "indices"],
    "returns_list": false})"));
  EXPECT_EQ(to_json(parse_schema("f(xs: tensors) -> tensors")).at("returns_list"), true);
}

TEST(SchemaJson, NamesKindsAndKeepsDefaults) {
  const auto parameter = [](const std::string& text) {
    const Json json = to_json(parse_schema("f(" + text + ")")).at("parameters").at(0);
    return json.at("kind").get<std::string>() + " " + json.value("default", Json("missing")).dump();
  };
  EXPECT_EQ(parameter("xs: tensors"), "tensors \"missing\"");
  EXPECT_EQ(parameter("a: bool = True"), "bool true");
  EXPECT_EQ(parameter("a: int = -1"), "int -1");
  EXPECT_EQ(parameter("a: axis = -1"), "axis -1");
  EXPECT_EQ(parameter("a: axes = [0, -1]"), "axes [0,-1]");
  EXPECT_EQ(parameter("a: float = 2"), "float 2.0");
  EXPECT_EQ(parameter("a: float = 1e-05"), "float 1e-05");
  EXPECT_EQ(parameter("a: float = inf"), "float \"inf\"");
  EXPECT_EQ(parameter("a: float = -inf"), "float \"-inf\"");
  EXPECT_EQ(parameter("a: ints = [1, 2]"), "ints [1,2]");
  EXPECT_EQ(parameter("a: dtype = bf16"), "dtype \"bf16\"");
  EXPECT_EQ(parameter("a: str = 'mean'"), "str \"mean\"");
}

}  // namespace
}  // namespace lucid
