// Elementwise ops and copies that give back an operand. Each keeps subnormal numbers, -0.0 and NaNs, or is for
// integers.

#include <algorithm>
#include <array>
#include <string_view>

#include "passes/identity_rules.h"

namespace lucid {
namespace {

using Element = std::array<char, 8>;

Element element_of(const Scalar& number, Dtype dtype) {
  Element element{};
  number.store(dtype, element.data());
  return element;
}

bool is_one_of(const IRNode& node, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, node.op->name()) != names.end();
}

bool is_exact_type(Dtype dtype) { return is_integer(dtype) || is_bool(dtype); }

std::optional<Rewrite> same_as(ValueId id) {
  if (id < 0) return std::nullopt;
  return Rewrite{.same_as = id};
}

std::optional<Rewrite> copy(const IdentityContext& context, const IRNode& node) {
  const bool converts =
      node.op->name() == "to" && context.type(node.inputs[0].id).dtype != context.type(node.outputs[0]).dtype;
  if (!is_one_of(node, {"to", "clone", "contiguous"}) || converts) return std::nullopt;
  return same_as(node.inputs[0].id);
}

std::optional<Rewrite> joined_alone(const IdentityContext&, const IRNode& node) {
  if (!is_one_of(node, {"cat", "cat_same"}) || node.inputs.size() != 1) return std::nullopt;
  return same_as(node.inputs[0].id);
}

/// Whether converting from `narrow` to `wide` and back gives the same number, for all of them.
bool survives(Dtype narrow, Dtype wide) {
  if (is_bool(narrow)) return true;
  if (is_bool(wide)) return false;
  // f32 -> f64 -> f32 is missing: the way back flushes subnormal numbers, and bf16 goes back by way of f32.
  if (is_float(narrow))
    return (is_half(narrow) && wide == Dtype::kF32) || (narrow == Dtype::kF16 && wide == Dtype::kF64);
  const size_t bits = 8 * size_of(narrow);
  if (is_integer(wide)) return size_of(wide) >= size_of(narrow);
  const size_t digits = wide == Dtype::kF64 ? 53 : wide == Dtype::kF32 ? 24 : wide == Dtype::kF16 ? 11 : 8;
  return bits <= digits;
}

std::optional<Rewrite> there_and_back(const IdentityContext& context, const IRNode& node) {
  if (node.op->name() != "to") return std::nullopt;
  const IRNode* const inner = context.definer(node.inputs[0].id);
  if (!inner || inner->op != node.op) return std::nullopt;
  const Dtype narrow = context.type(inner->inputs[0].id).dtype;
  if (context.type(node.outputs[0]).dtype != narrow || !survives(narrow, context.type(inner->outputs[0]).dtype))
    return std::nullopt;
  return same_as(inner->inputs[0].id);
}

/// The number with which an op gives back its other operand, and whether it may stand on the left too.
struct Neutral {
  std::string_view op;
  int number;
  bool either_side;
};

constexpr Neutral kNeutral[] = {
    {"add", 0, true},
    {"sub", 0, false},
    {"mul", 1, true},
    {"floor_divide", 1, false},
    {"bitwise_or", 0, true},
    {"bitwise_xor", 0, true},
    {"bitwise_and", -1, true},
    {"bitwise_left_shift", 0, false},
    {"bitwise_right_shift", 0, false},
};

std::optional<Rewrite> neutral_number(const IdentityContext& context, const IRNode& node) {
  const auto rule = std::ranges::find(kNeutral, std::string_view(node.op->name()), &Neutral::op);
  const TensorType& type = context.type(node.outputs[0]);
  if (rule == std::end(kNeutral) || !is_exact_type(type.dtype)) return std::nullopt;
  const Element wanted = element_of(rule->number, type.dtype);
  for (const size_t side : {size_t{1}, size_t{0}}) {
    if (side == 0 && !rule->either_side) break;
    const ValueId other = node.inputs[1 - side].id;
    if (other < 0 || context.type(other) != type) continue;
    const auto number = context.uniform(node.inputs[side]);
    if (number && element_of(*number, type.dtype) == wanted) return same_as(other);
  }
  return std::nullopt;
}

std::optional<Rewrite> equal_choices(const IdentityContext& context, const IRNode& node) {
  const bool chooses = node.op->name() == "where";
  if (!chooses && !is_one_of(node, {"minimum", "maximum", "bitwise_and", "bitwise_or"})) return std::nullopt;
  const ValueId x = node.inputs[chooses ? 1 : 0].id;
  if (x != node.inputs[chooses ? 2 : 1].id || x < 0 || context.type(x) != context.type(node.outputs[0]))
    return std::nullopt;
  return same_as(x);
}

std::optional<Rewrite> known_choice(const IdentityContext& context, const IRNode& node) {
  const bool chooses = node.op->name() == "where";
  if (!chooses && node.op->name() != "masked_fill") return std::nullopt;
  const auto condition = context.uniform(node.inputs[chooses ? 0 : 1]);
  if (!condition) return std::nullopt;
  const bool holds = condition->to_int() != 0;
  if (!chooses && holds) return std::nullopt;
  const ValueId chosen = node.inputs[!chooses ? 0 : holds ? 1 : 2].id;
  if (chosen < 0 || context.type(chosen) != context.type(node.outputs[0])) return std::nullopt;
  return same_as(chosen);
}

std::optional<Rewrite> done_twice(const IdentityContext& context, const IRNode& node) {
  if (!is_one_of(node, {"neg", "bitwise_not", "logical_not"})) return std::nullopt;
  const IRNode* const inner = context.definer(node.inputs[0].id);
  if (!inner || inner->op != node.op) return std::nullopt;
  const ValueId x = inner->inputs[0].id;
  if (x < 0 || context.type(x) != context.type(node.outputs[0])) return std::nullopt;
  return same_as(x);
}

std::optional<Rewrite> once_is_enough(const IdentityContext& context, const IRNode& node) {
  if (!is_one_of(node, {"abs", "relu", "sign", "floor", "ceil", "trunc", "round"})) return std::nullopt;
  const IRNode* const inner = context.definer(node.inputs[0].id);
  if (!inner || inner->op != node.op) return std::nullopt;
  return same_as(node.inputs[0].id);
}

constexpr IdentityRule kRules[] = {
    {"copy", "elements are read and written as they are", copy},
    {"joined alone", "elements are read and written as they are", joined_alone},
    {"there and back", "the dtype between holds every number of the dtype around it, and the way back flushes none",
     there_and_back},
    {"neutral number", "integers wrap and have one zero; a divisor of 1 raises nothing", neutral_number},
    {"equal choices", "whichever is chosen, it is x: no arithmetic is done on it, so NaN and subnormal numbers pass",
     equal_choices},
    {"known choice", "the condition is the same for all elements, and the other operand is never read", known_choice},
    {"done twice", "flips the sign or all bits, without arithmetic, and flips them back", done_twice},
    {"once is enough", "what it gives it leaves as it is", once_is_enough},
};

}  // namespace

std::span<const IdentityRule> element_rules() { return kRules; }

const IRNode* IdentityContext::definer(ValueId id) const {
  const auto found = definers_.find(id);
  return found == definers_.end() ? nullptr : found->second;
}

void IdentityContext::define(const IRNode& node) {
  for (const ValueId id : node.outputs) definers_.emplace(id, &node);
}

std::optional<Scalar> IdentityContext::uniform(const IROperand& operand) const {
  if (operand.number) return operand.number;
  if (operand.id < 0) return std::nullopt;
  const Dtype dtype = type(operand.id).dtype;
  if (const auto found = constants_.find(operand.id); found != constants_.end()) {
    const auto& bytes = found->second.bytes;
    const size_t size = size_of(dtype);
    if (bytes.empty() || bytes.size() > size * kMaxConstantElements) return std::nullopt;
    if (!std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end(), bytes.begin())) return std::nullopt;
    return Scalar::load(dtype, bytes.data());
  }
  const IRNode* const node = definer(operand.id);
  if (!node) return std::nullopt;
  std::optional<Scalar> number;
  if (node->op->name() == "full") number = node->inputs[0].number;
  if (is_one_of(*node, {"zeros", "zeros_like"})) number = Scalar(0);
  if (is_one_of(*node, {"ones", "ones_like"})) number = Scalar(1);
  if (!number) return std::nullopt;
  return Scalar::load(dtype, element_of(*number, dtype).data());
}

}  // namespace lucid
