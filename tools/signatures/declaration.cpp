#include "signatures/declaration.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.h"
#include "ir/scanner.h"

namespace lucid::signatures {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kKinds = std::to_array<std::string_view>({
    "bool",       "int",          "float", "str",
    "dtype",  // the same as for ops
    "ints",   // integers; one stands for all dimensions
    "shape",  // integers
    "sizes",      "sizes_or_str",
    "open_sizes",  // the same as `ints`, but C++ takes any item
    "factors",     // floats, as an item
    "item",        // any value
    "tensor",     "module",
    "rate",      // a float, or in Python a tensor
    "rates",     // a float, or one for each group of parameters
    "pair",      // two floats
    "triple",    // three floats
    "epochs",    // integers
    "function",  // a float from an integer
});

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_("signature", text) {}

  Json parse() {
    parse_parameters(scanner_, [&](bool keyword_only) { return parse_parameter(keyword_only); });
    if (!scanner_.at_end()) scanner_.fail("expected the end");
    return std::move(parameters_);
  }

 private:
  std::string parse_parameter(bool keyword_only) {
    Json entry;
    const std::string only = scanner_.take("cpp") ? "cpp" : scanner_.take("python") ? "python" : "";
    std::string name(scanner_.identifier("a parameter"));
    const bool is_private = name.front() == '_' && only != "python";
    if (is_private) name.erase(0, 1);
    scanner_.expect(":");
    const std::string_view kind = scanner_.identifier("a kind of parameter");
    if (std::ranges::find(kKinds, kind) == kKinds.end())
      scanner_.fail(fmt::format("`{}` is not a kind of parameter", kind));
    const bool optional = scanner_.take("?");
    const bool required = scanner_.take("!");
    entry["name"] = name;
    entry["kind"] = kind;
    entry["only"] = only;
    entry["optional"] = optional;
    entry["private"] = is_private;
    entry["keyword_only"] = keyword_only;
    const bool has_default = scanner_.take("=");
    entry["required"] = required || !has_default;
    if (has_default) parse_default(entry);
    parameters_.push_back(std::move(entry));
    return name;
  }

  void parse_default(Json& entry) {
    for (const Json& other : parameters_) {
      if (!scanner_.take(other.at("name").get_ref<const std::string&>())) continue;
      if (!entry.at("optional").get<bool>()) scanner_.fail("only an optional parameter stands for another one");
      entry["default"] = "None";
      entry["same_as"] = other.at("name");
      return;
    }
    const bool is_text = scanner_.peek("\"") || scanner_.peek("'");
    entry["default"] = is_text ? lucid::quoted(scanner_.string()) : std::string(scanner_.literal());
  }

  Scanner scanner_;
  Json parameters_ = Json::array();
};

}  // namespace

Json parse_declaration(std::string_view text) {
  try {
    return Parser(text).parse();
  } catch (const ValueError& error) {
    throw std::runtime_error(fmt::format("{} in \"{}\"", error.what(), text));
  }
}

}  // namespace lucid::signatures
