// The op table and its samples as Python objects, for tests that cover all ops.

#include <nanobind/nanobind.h>

#include <nlohmann/json.hpp>

#include "bindings/attribute.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/op_function.h"
#include "ir/schema_json.h"

namespace lucid::python {
namespace {

nb::str text(const std::string& value) { return nb::str(value.data(), value.size()); }

const char* name_of(Fill fill) {
  switch (fill) {
    case Fill::kNormal:
      return "normal";
    case Fill::kPositive:
      return "positive";
    case Fill::kLarge:
      return "large";
    case Fill::kUnit:
      return "unit";
    case Fill::kProbability:
      return "probability";
    case Fill::kSign:
      return "sign";
    case Fill::kNonZero:
      return "nonzero";
    case Fill::kDistinct:
      return "distinct";
    case Fill::kIndex:
      return "index";
    case Fill::kOffset:
      return "offset";
    case Fill::kMask:
      return "mask";
    case Fill::kBound:
      return "bound";
    case Fill::kTrueMask:
      return "true_mask";
  }
  return "";
}

nb::object from_dtype(Dtype dtype) { return nb::borrow(dtype_object(dtype)); }

nb::object describe(const SampleTensor& tensor) {
  if (tensor.absent) return nb::none();
  nb::dict entry;
  if (tensor.number) {
    entry["number"] = checked(from_scalar(*tensor.number));
    return entry;
  }
  entry["shape"] = checked(from_ints(tensor.shape));
  entry["fill"] = name_of(tensor.fill);
  if (!tensor.strides.empty()) entry["strides"] = checked(from_ints(tensor.strides));
  if (tensor.dtype) entry["dtype"] = from_dtype(*tensor.dtype);
  entry["bound"] = tensor.bound;
  return entry;
}

nb::dict describe(const Sample& sample) {
  nb::list tensors;
  for (const SampleTensor& tensor : sample.tensors) tensors.append(describe(tensor));
  nb::dict attributes;
  for (const auto& [name, value] : sample.attributes) attributes[text(name)] = from_attribute(value);
  nb::dict entry;
  entry["tensors"] = tensors;
  entry["attributes"] = attributes;
  return entry;
}

nb::dict describe(const Op& op) {
  nb::list dtypes;
  for (int i = 0; i < kDtypeCount; ++i)
    if (op.dtypes.contains(static_cast<Dtype>(i))) dtypes.append(from_dtype(static_cast<Dtype>(i)));
  nb::list samples;
  for (const Sample& sample : op.samples) samples.append(describe(sample));
  // Name, parameters and results, in the JSON form that all generators use.
  auto entry = nb::cast<nb::dict>(nb::module_::import_("json").attr("loads")(text(to_json(op.schema).dump())));
  entry["dtypes"] = dtypes;
  entry["public"] = op.is_public();
  entry["random"] = op.is_random();
  entry["pointwise"] = op.is_pointwise();
  entry["host"] = static_cast<bool>(op.host);
  entry["sized_by_values"] = op.host && !op.infer;
  entry["ulp"] = op.ulp;
  entry["samples"] = samples;
  return entry;
}

}  // namespace

nb::object from_attribute(const Attribute& attribute) {
  struct Maker {
    nb::object operator()(std::monostate) const { return nb::none(); }
    nb::object operator()(bool value) const { return nb::bool_(value); }
    nb::object operator()(Dim value) const { return nb::int_(int64_t{value}); }
    nb::object operator()(double value) const { return nb::float_(value); }
    nb::object operator()(Dtype value) const { return from_dtype(value); }
    nb::object operator()(const Dims& value) const { return read_ints(value); }
    nb::object operator()(const std::string& value) const { return text(value); }
  };
  return std::visit(Maker(), attribute);
}

void bind_op_table(nb::module_& module) {
  module.def(
      "op_table",
      [] {
        nb::list table;
        for (const Op& op : op_table().ops()) table.append(describe(op));
        return table;
      },
      "The entries of the op table, with samples of valid calls for tests.");
}

}  // namespace lucid::python
