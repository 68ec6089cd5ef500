// Prints the op table as JSON: what documentation, type stubs and public headers are generated from.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "ir/op.h"

namespace lucid {
namespace {

using nlohmann::json;

const char* name_of(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kTensor:
      return "tensor";
    case ParameterKind::kTensors:
      return "tensors";
    case ParameterKind::kBool:
      return "bool";
    case ParameterKind::kInt:
      return "int";
    case ParameterKind::kFloat:
      return "float";
    case ParameterKind::kInts:
      return "ints";
    case ParameterKind::kVarInts:
      return "ints*";
    case ParameterKind::kDtype:
      return "dtype";
    case ParameterKind::kString:
      return "str";
  }
  return "";
}

const char* kind_of(const Op& op) {
  struct Namer {
    const char* operator()(std::monostate) const { return ""; }
    const char* operator()(const PointwiseLowering&) const { return "pointwise"; }
    const char* operator()(const IndexedLowering&) const { return "indexed"; }
    const char* operator()(const ReduceLowering&) const { return "reduce"; }
    const char* operator()(const ScanLowering&) const { return "scan"; }
    const char* operator()(const ScatterLowering&) const { return "scatter"; }
    const char* operator()(const ContractionLowering&) const { return "contraction"; }
    const char* operator()(const ConcatLowering&) const { return "concat"; }
  };
  if (op.decompose) return "composite";
  if (op.view) return "view";
  if (op.host) return "host";
  return std::visit(Namer(), op.lowering);
}

/// As Python writes it.
json default_of(const Parameter& parameter) {
  if (!is_attribute(parameter.kind) || std::holds_alternative<std::monostate>(parameter.default_value)) return nullptr;
  return to_string(parameter.default_value);
}

json describe(const Op& op) {
  json parameters = json::array();
  for (const Parameter& parameter : op.schema.parameters) {
    json entry = {{"name", parameter.name},
                  {"kind", name_of(parameter.kind)},
                  {"optional", parameter.optional},
                  {"keyword_only", parameter.keyword_only}};
    if (parameter.has_default) entry["default"] = default_of(parameter);
    parameters.push_back(std::move(entry));
  }
  json dtypes = json::array();
  for (int i = 0; i < kDtypeCount; ++i)
    if (op.dtypes.contains(static_cast<Dtype>(i))) dtypes.push_back(name_of(static_cast<Dtype>(i)));
  return {{"name", op.name()},
          {"signature", op.signature},
          {"parameters", std::move(parameters)},
          {"results", op.schema.results},
          {"returns_list", op.schema.returns_list},
          {"doc", op.doc},
          {"dtypes", std::move(dtypes)},
          {"kind", kind_of(op)},
          {"differentiable", op.gradient || op.decompose},
          {"ulp", op.ulp},
          {"samples", op.samples.size()}};
}

}  // namespace
}  // namespace lucid

int main() {
  nlohmann::json table = nlohmann::json::array();
  for (const lucid::Op& op : lucid::op_table().ops()) table.push_back(lucid::describe(op));
  std::puts(table.dump(1).c_str());
  return 0;
}
