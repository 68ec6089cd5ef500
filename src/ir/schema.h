#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/small_vector.h"

namespace lucid {

/// The value of a parameter that is not a tensor. std::monostate is None.
using Attribute = std::variant<std::monostate, bool, SymInt, double, Dtype, Dims, std::string>;

/// The attribute with a value, or None.
template <typename T>
Attribute attribute_of(const T& value) {
  return value;
}
inline Attribute attribute_of(int64_t value) { return SymInt(value); }
template <typename T>
Attribute attribute_of(const std::optional<T>& value) {
  return value ? attribute_of(*value) : Attribute();
}

/// One for each non-tensor parameter of the op, in the order of the signature.
using Attributes = std::vector<Attribute>;

/// "[1,2]", "true", "0.5", "\"mean\"", "f32", "none": parses back.
std::string attribute_text(const Attribute& attribute);
/// The same, for attributes only, not for types that convert to one.
template <std::same_as<Attribute> T>
std::string to_string(const T& attribute) {
  return attribute_text(attribute);
}
uint64_t hash_of(const Attributes& attributes);

enum class ParameterKind : uint8_t {
  kTensor,   // x            a tensor or a number
  kTensors,  // xs: tensors  a list of tensors; at most one in an op
  kBool,     // : bool
  kInt,      // : int
  kAxis,     // : axis       a dimension of a tensor; negative ones count from the end (Call::axis)
  kFloat,    // : float
  kInts,     // : ints       one integer or several
  kAxes,     // : axes       one dimension of a tensor or several (Call::axes)
  kDtype,    // : dtype
  kString,   // : str
};

/// Whether the parameter's values are attributes, not operands.
constexpr bool is_attribute(ParameterKind kind) { return kind > ParameterKind::kTensors; }
/// Whether the parameter's values are dimensions of a tensor.
constexpr bool is_axis(ParameterKind kind) { return kind == ParameterKind::kAxis || kind == ParameterKind::kAxes; }
/// The name of the kind in signatures.
std::string_view name_of(ParameterKind kind);

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::kTensor;
  bool spread = false;        // `*` after ints or axes: Python also accepts separate positional arguments
  bool optional = false;      // `?`: None is allowed
  bool keyword_only = false;  // after `*`
  bool has_default = false;
  Attribute default_value;  // for attributes; an optional tensor's default is always None
};

/// Converts `value` to the type of the parameter: an integer is converted to a float or to a list of integers. Empty if
/// the parameter does not accept the value.
std::optional<Attribute> convert_attribute(const Parameter& parameter, const Attribute& value);

/// An op's signature, parsed once from its text, for instance
///   "sum(x, dim: axes? = None, keepdim: bool = False, *, dtype: dtype? = None)"
///   "max_dim(x, dim: axis, keepdim: bool = False) -> values, indices"
///   "split(x, sizes: ints, dim: axis = 0) -> tensors"
///   "linear(x, weight, bias? = None)"
/// The operands of a call are the tensor parameters in order; a list contributes one operand for each of its tensors.
struct Schema {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<std::string> results;  // names of several results; empty for one unnamed result
  bool returns_list = false;         // "-> tensors": the call determines how many

  /// Position among the attributes, or -1.
  int attribute_index(std::string_view parameter) const;
  /// Position among the tensor parameters, or -1.
  int operand_index(std::string_view parameter) const;
  Attributes default_attributes() const;
  std::string to_string() const;
};

/// Throws InternalError if the text is not a valid signature: signatures are internal.
Schema parse_schema(std::string_view text);

}  // namespace lucid
