#include "ir/op.h"

#include <algorithm>
#include <numeric>

#include "base/shape.h"
#include "ir/emitter.h"

namespace lucid {
namespace {

template <typename T>
const T& typed(const Call& call, std::string_view name) {
  const T* value = std::get_if<T>(&call.attribute(name));
  LUCID_CHECK(value, "{}: attribute {} is {}, but is read as another type", call.name(), name,
              to_string(call.attribute(name)));
  return *value;
}

}  // namespace

bool Op::is_random() const { return !schema.parameters.empty() && schema.parameters.front().name == "state"; }

bool Op::has_method() const {
  if (!is_public()) return false;
  if (names.method) return *names.method;
  if (names.is_factory || schema.parameters.empty()) return false;
  const Parameter& first = schema.parameters.front();
  return first.kind == ParameterKind::kTensor && !first.optional && !is_random();
}

bool Op::has_in_place_method() const {
  if (!has_method() || schema.returns_list || !schema.results.empty()) return false;
  if (names.in_place) return *names.in_place;
  // Operand 0 of a kTail op is a condition, which cannot hold the result.
  return promote != Promote::kTail && (is_pointwise() || promote != Promote::kNone);
}

bool Op::takes_alpha() const {
  return names.python_operator == Operator::kAdd || names.python_operator == Operator::kSubtract;
}

const std::string& Call::name() const { return op_.name(); }

const Attribute& Call::attribute(std::string_view name) const {
  const int index = op_.schema.attribute_index(name);
  LUCID_CHECK(index >= 0, "{} has no attribute {}", op_.name(), name);
  LUCID_CHECK(static_cast<size_t>(index) < attributes_.size(), "{}: the call lacks attribute {}", op_.name(), name);
  return attributes_[static_cast<size_t>(index)];
}

bool Call::flag(std::string_view name) const { return typed<bool>(*this, name); }
SymInt Call::integer(std::string_view name) const { return typed<SymInt>(*this, name); }
double Call::real(std::string_view name) const { return typed<double>(*this, name); }
Dtype Call::dtype_of(std::string_view name) const { return typed<Dtype>(*this, name); }
const Dims& Call::ints(std::string_view name) const { return typed<Dims>(*this, name); }
const std::string& Call::text(std::string_view name) const { return typed<std::string>(*this, name); }

int64_t Call::axis(std::string_view name, int64_t rank) const {
  return normalize_axis(this->name(), integer(name), rank);
}

Dims Call::axes(std::string_view name, int64_t rank) const {
  const Attribute& given = attribute(name);
  if (std::holds_alternative<std::monostate>(given)) return {};
  return normalize_axes(this->name(), std::holds_alternative<SymInt>(given) ? Dims{integer(name)} : ints(name), rank);
}

Dims Call::ordered_axes(std::string_view name) const {
  axes(name);  // rejects repeats
  Dims ordered;
  for (const int64_t axis : ints(name)) ordered.push_back(normalize_axis(this->name(), axis, rank(0)));
  return ordered;
}

const Value& GradientCall::in(size_t i) const {
  LUCID_CHECK(i < inputs_.size() && inputs_[i], "{}: its gradient reads input {}, which was not saved", name(), i);
  return inputs_[i];
}

const Value& GradientCall::out(size_t i) const {
  LUCID_CHECK(i < outputs_.size() && outputs_[i], "{}: its gradient reads result {}, which was not saved", name(), i);
  return outputs_[i];
}

Operand GradientCall::argument(size_t i) const { return operand(i).is_value() ? Operand(in(i)) : operand(i); }

namespace {

using Decompose = decltype(Op::decompose);

/// Wraps the decomposition of a promoting composite, so that its inputs are first converted to the compute dtype.
Decompose after_promotion(Decompose decompose) {
  return [decompose = std::move(decompose)](Emitter& e, const Call& call, std::span<const Value> inputs) {
    Values converted(inputs.begin(), inputs.end());
    for (size_t i = 0; i < converted.size(); ++i)
      if (converted[i]) converted[i] = e.cast(converted[i], operand_dtype(call, i));
    return decompose(e, call, converted);
  };
}

}  // namespace

OpTable::OpTable(std::vector<Op> ops) : ops_(std::move(ops)) {
  LUCID_CHECK(ops_.size() <= UINT16_MAX, "{} ops", ops_.size());
  for (size_t i = 0; i < ops_.size(); ++i) {
    Op& op = ops_[i];
    op.schema = parse_schema(op.signature);
    op.id = static_cast<uint16_t>(i);
    const int ways =
        op.is_lowered() + static_cast<bool>(op.decompose) + static_cast<bool>(op.view) + static_cast<bool>(op.host);
    if (op.decompose && op.promote != Promote::kNone) op.decompose = after_promotion(std::move(op.decompose));
    LUCID_CHECK(ways == 1, "{} has {} implementations; set exactly one of lowering, decompose, view and host",
                op.name(), ways);
    LUCID_CHECK(op.host || !op.has_effects(), "{} has effects but does not compute on the host", op.name());
    LUCID_CHECK(op.infer || op.effects != Effects::kOrdered,
                "{} has ordered effects, but the types of its results depend on values", op.name());
    if (op.cost == 0) op.cost = op.ulp > 0 ? kFunctionCost : kSimpleCost;
  }
  by_name_.resize(ops_.size());
  std::iota(by_name_.begin(), by_name_.end(), uint16_t{0});
  std::ranges::sort(by_name_, {}, [this](uint16_t id) -> const std::string& { return ops_[id].name(); });
  const auto twin = std::ranges::adjacent_find(by_name_, {}, [this](uint16_t id) { return ops_[id].name(); });
  LUCID_CHECK(twin == by_name_.end(), "two ops are named {}", ops_[*twin].name());
}

const Op* OpTable::find(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(by_name_, name, {}, [this](uint16_t id) -> std::string_view { return ops_[id].name(); });
  return found != by_name_.end() && ops_[*found].name() == name ? &ops_[*found] : nullptr;
}

const Op& OpTable::at(std::string_view name) const {
  const Op* op = find(name);
  LUCID_CHECK(op, "no op is named {}", name);
  return *op;
}

}  // namespace lucid
