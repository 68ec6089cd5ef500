#include "ir/schema.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/scalar.h"
#include "base/shape.h"
#include "ir/scanner.h"

namespace lucid {
namespace {

constexpr std::pair<std::string_view, ParameterKind> kKinds[] = {
    {"tensor", ParameterKind::kTensor}, {"tensors", ParameterKind::kTensors}, {"bool", ParameterKind::kBool},
    {"int", ParameterKind::kInt},       {"axis", ParameterKind::kAxis},       {"float", ParameterKind::kFloat},
    {"ints", ParameterKind::kInts},     {"axes", ParameterKind::kAxes},       {"dtype", ParameterKind::kDtype},
    {"str", ParameterKind::kString},
};

ParameterKind parse_kind(Scanner& scanner) {
  const std::string_view word = scanner.identifier("a kind of parameter");
  const auto* kind = std::ranges::find(kKinds, word, &std::pair<std::string_view, ParameterKind>::first);
  if (kind == std::end(kKinds)) scanner.fail(fmt::format("`{}` is not a kind of parameter", word));
  return kind->second;
}

Parameter parse_parameter(Scanner& scanner) {
  Parameter parameter;
  parameter.name = scanner.identifier("a parameter");
  if (scanner.take(":")) parameter.kind = parse_kind(scanner);
  if (parameter.kind == ParameterKind::kInts || parameter.kind == ParameterKind::kAxes)
    parameter.spread = scanner.take("*");
  parameter.optional = scanner.take("?");
  if (scanner.take("=")) {
    parameter.has_default = true;
    const Attribute value = scanner.attribute();
    if (is_attribute(parameter.kind)) {
      const auto converted = convert_attribute(parameter, value);
      if (!converted) scanner.fail(fmt::format("{} does not take {}", parameter.name, to_string(value)));
      parameter.default_value = *converted;
    } else if (!parameter.optional || !std::holds_alternative<std::monostate>(value)) {
      scanner.fail("the default of a tensor must be None, and the tensor must be optional");
    }
  }
  return parameter;
}

std::string text_of(const Parameter& parameter) {
  std::string text = parameter.name;
  if (parameter.kind != ParameterKind::kTensor) text += fmt::format(": {}", name_of(parameter.kind));
  if (parameter.spread) text += '*';
  if (parameter.optional) text += '?';
  if (parameter.has_default) text += fmt::format(" = {}", to_string(parameter.default_value));
  return text;
}

}  // namespace

std::string_view name_of(ParameterKind kind) {
  return std::ranges::find(kKinds, kind, &std::pair<std::string_view, ParameterKind>::second)->first;
}

std::optional<Attribute> convert_attribute(const Parameter& parameter, const Attribute& value) {
  if (std::holds_alternative<std::monostate>(value)) return parameter.optional ? std::optional(value) : std::nullopt;
  const auto only_if = [&](bool holds) { return holds ? std::optional(value) : std::nullopt; };
  const auto* integer = std::get_if<SymInt>(&value);
  switch (parameter.kind) {
    case ParameterKind::kTensor:
    case ParameterKind::kTensors:
      return std::nullopt;
    case ParameterKind::kBool:
      return only_if(std::holds_alternative<bool>(value));
    case ParameterKind::kInt:
    case ParameterKind::kAxis:
      return only_if(integer != nullptr);
    case ParameterKind::kFloat:
      return integer ? Attribute(static_cast<double>(*integer)) : only_if(std::holds_alternative<double>(value));
    case ParameterKind::kInts:
    case ParameterKind::kAxes:
      return integer ? Attribute(Dims{*integer}) : only_if(std::holds_alternative<Dims>(value));
    case ParameterKind::kDtype:
      return only_if(std::holds_alternative<Dtype>(value));
    case ParameterKind::kString:
      return only_if(std::holds_alternative<std::string>(value));
  }
  return std::nullopt;
}

uint64_t hash_of(const Attributes& attributes) {
  struct Hasher {
    uint64_t operator()(std::monostate) const { return 0; }
    uint64_t operator()(bool value) const { return value; }
    uint64_t operator()(SymInt value) const { return hash_span(std::span<const SymInt>(&value, 1)); }
    uint64_t operator()(double value) const { return Scalar(value).bits(); }
    uint64_t operator()(Dtype value) const { return static_cast<uint64_t>(value); }
    uint64_t operator()(const Dims& value) const { return hash_span(std::span<const SymInt>(value)); }
    uint64_t operator()(const std::string& value) const { return hash_string(value); }
  };
  uint64_t hash = attributes.size();
  for (const Attribute& attribute : attributes)
    hash = hash_combine(hash_combine(hash, attribute.index()), std::visit(Hasher(), attribute));
  return hash;
}

int Schema::attribute_index(std::string_view parameter) const {
  int index = 0;
  for (const Parameter& candidate : parameters) {
    if (!is_attribute(candidate.kind)) continue;
    if (candidate.name == parameter) return index;
    ++index;
  }
  return -1;
}

int Schema::operand_index(std::string_view parameter) const {
  int index = 0;
  for (const Parameter& candidate : parameters) {
    if (is_attribute(candidate.kind)) continue;
    if (candidate.name == parameter) return index;
    ++index;
  }
  return -1;
}

Attributes Schema::default_attributes() const {
  Attributes attributes;
  for (const Parameter& parameter : parameters)
    if (is_attribute(parameter.kind)) attributes.push_back(parameter.default_value);
  return attributes;
}

std::string Schema::to_string() const {
  std::string text = name + '(';
  bool keyword_only = false;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i > 0) text += ", ";
    if (parameters[i].keyword_only && !keyword_only) text += "*, ";
    keyword_only = parameters[i].keyword_only;
    text += text_of(parameters[i]);
  }
  text += ')';
  if (returns_list) return text + " -> tensors";
  for (size_t i = 0; i < results.size(); ++i) text += (i == 0 ? " -> " : ", ") + results[i];
  return text;
}

Schema parse_schema(std::string_view text) {
  try {
    Scanner scanner("signature", text);
    Schema schema;
    schema.name = scanner.identifier("the name of an op");
    bool has_list = false;
    parse_parameters(scanner, [&](bool keyword_only) {
      Parameter& parameter = schema.parameters.emplace_back(parse_parameter(scanner));
      parameter.keyword_only = keyword_only;
      if (parameter.kind == ParameterKind::kTensors && std::exchange(has_list, true))
        scanner.fail("an op takes at most one list of tensors");
      return parameter.name;
    });
    if (scanner.take("->")) {
      if (scanner.take("tensors")) {
        schema.returns_list = true;
      } else {
        do schema.results.emplace_back(scanner.identifier("the name of a result"));
        while (scanner.take(","));
        if (schema.results.size() == 1) scanner.fail("a single result cannot have a name");
      }
    }
    if (!scanner.at_end()) scanner.fail("expected the end");
    return schema;
  } catch (const ValueError& error) {
    throw InternalError("{} in \"{}\"", error.what(), text);
  }
}

}  // namespace lucid
