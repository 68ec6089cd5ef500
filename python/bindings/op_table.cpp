// The op table and its samples as Python objects, for tests that cover all ops.

#include <nanobind/nanobind.h>

#include <cmath>

#include "bindings/attribute.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/op_function.h"
#include "ir/aliases.h"

namespace lucid::python {
namespace {

// nanobind's own conversions to numbers, texts and containers do not report that memory ran out.

nb::object text(std::string_view value) {
  return checked(PyUnicode_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size())));
}
nb::object flag(bool value) { return nb::borrow(value ? Py_True : Py_False); }
nb::object number(double value) { return checked(PyFloat_FromDouble(value)); }

nb::object new_dict() { return checked(PyDict_New()); }
void set(const nb::object& dict, std::string_view key, const nb::object& value) {
  check_status(PyDict_SetItem(dict.ptr(), text(key).ptr(), value.ptr()));
}

/// The list of the results of `describe` for each element.
template <typename Range, typename F>
nb::object list_of(const Range& range, F describe) {
  nb::object list = checked(PyList_New(0));
  for (const auto& element : range) check_status(PyList_Append(list.ptr(), nb::object(describe(element)).ptr()));
  return list;
}

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
  nb::object entry = new_dict();
  if (tensor.number) {
    set(entry, "number", checked(from_scalar(*tensor.number)));
    return entry;
  }
  set(entry, "shape", checked(from_ints(tensor.shape)));
  set(entry, "fill", text(name_of(tensor.fill)));
  if (!tensor.strides.empty()) set(entry, "strides", checked(from_ints(tensor.strides)));
  if (tensor.dtype) set(entry, "dtype", from_dtype(*tensor.dtype));
  set(entry, "bound", checked(PyLong_FromLongLong(tensor.bound)));
  return entry;
}

nb::object describe(const Sample& sample) {
  nb::object attributes = new_dict();
  for (const auto& [name, value] : sample.attributes) set(attributes, name, from_attribute(value));
  nb::object entry = new_dict();
  set(entry, "tensors", list_of(sample.tensors, [](const SampleTensor& tensor) { return describe(tensor); }));
  set(entry, "attributes", attributes);
  return entry;
}

/// A default as in ir/schema_json.h.
nb::object describe_default(const Attribute& attribute) {
  if (const auto* dtype = std::get_if<Dtype>(&attribute)) return text(name_of(*dtype));
  if (const auto* value = std::get_if<double>(&attribute); value && !std::isfinite(*value))
    return text(attribute_text(attribute));
  if (const auto* dims = std::get_if<Dims>(&attribute))
    return list_of(*dims, [](SymInt size) { return checked(PyLong_FromLongLong(size.unguarded())); });
  return from_attribute(attribute);
}

/// The entries of ir/schema_json.h. They are not made from JSON: the destructor of nlohmann's values allocates, which
/// ends the process if memory ran out.
nb::object describe(const Parameter& parameter, const Schema& schema) {
  nb::object entry = new_dict();
  set(entry, "name", text(parameter.name));
  set(entry, "kind", text(name_of(parameter.kind)));
  set(entry, "spread", flag(parameter.spread));
  set(entry, "optional", flag(parameter.optional));
  set(entry, "keyword_only", flag(parameter.keyword_only));
  set(entry, "aliases", list_of(aliases_of(schema, parameter), text));
  if (parameter.has_default) set(entry, "default", describe_default(parameter.default_value));
  return entry;
}

nb::object describe(const Op& op) {
  nb::object dtypes = checked(PyList_New(0));
  for (int i = 0; i < kDtypeCount; ++i)
    if (op.dtypes.contains(static_cast<Dtype>(i)))
      check_status(PyList_Append(dtypes.ptr(), from_dtype(static_cast<Dtype>(i)).ptr()));
  nb::object entry = new_dict();
  set(entry, "name", text(op.name()));
  set(entry, "parameters", list_of(op.schema.parameters, [&](const Parameter& p) { return describe(p, op.schema); }));
  set(entry, "results", list_of(op.schema.results, text));
  set(entry, "returns_list", flag(op.schema.returns_list));
  set(entry, "dtypes", dtypes);
  set(entry, "public", flag(op.is_public()));
  set(entry, "random", flag(op.is_random()));
  set(entry, "pointwise", flag(op.is_pointwise()));
  set(entry, "host", flag(static_cast<bool>(op.host)));
  set(entry, "sized_by_values", flag(op.host && !op.infer));
  set(entry, "ulp", number(op.ulp));
  set(entry, "samples", list_of(op.samples, [](const Sample& sample) { return describe(sample); }));
  return entry;
}

}  // namespace

nb::object from_attribute(const Attribute& attribute) {
  struct Maker {
    nb::object operator()(std::monostate) const { return nb::none(); }
    nb::object operator()(bool value) const { return flag(value); }
    nb::object operator()(SymInt value) const { return checked(PyLong_FromLongLong(value)); }
    nb::object operator()(double value) const { return number(value); }
    nb::object operator()(Dtype value) const { return from_dtype(value); }
    nb::object operator()(const Dims& value) const { return read_ints(value); }
    nb::object operator()(const std::string& value) const { return text(value); }
  };
  return std::visit(Maker(), attribute);
}

void bind_op_table(nb::module_& module) {
  module.def(
      "op_table", [] { return list_of(op_table().ops(), [](const Op& op) { return describe(op); }); },
      "The entries of the op table, with samples of valid calls for tests.");
}

}  // namespace lucid::python
