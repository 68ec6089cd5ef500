#include "ir/schema_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "ir/aliases.h"

namespace lucid {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Attribute& attribute) {
  struct Writer {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool value) const { return value; }
    Json operator()(SymInt value) const { return value.unguarded(); }
    Json operator()(double value) const { return std::isfinite(value) ? Json(value) : Json(attribute_text(value)); }
    Json operator()(Dtype value) const { return name_of(value); }
    Json operator()(const Dims& value) const { return std::vector<int64_t>(value.begin(), value.end()); }
    Json operator()(const std::string& value) const { return value; }
  };
  return std::visit(Writer(), attribute);
}

}  // namespace

Json to_json(const Schema& schema) {
  Json parameters = Json::array();
  for (const Parameter& parameter : schema.parameters) {
    Json entry;
    entry["name"] = parameter.name;
    entry["kind"] = name_of(parameter.kind);
    entry["spread"] = parameter.spread;
    entry["optional"] = parameter.optional;
    entry["keyword_only"] = parameter.keyword_only;
    entry["aliases"] = aliases_of(schema, parameter);
    if (parameter.has_default) entry["default"] = to_json(parameter.default_value);
    parameters.push_back(std::move(entry));
  }
  return {{"name", schema.name},
          {"parameters", std::move(parameters)},
          {"results", schema.results},
          {"returns_list", schema.returns_list}};
}

}  // namespace lucid
