// Elementwise ops and copies whose result equals an operand. Each rule either preserves subnormal numbers, -0.0 and
// NaNs, or applies to integers only.

#include <algorithm>
#include <array>
#include <utility>

#include "passes/identity_rules.h"

namespace lucid {
namespace {

using Element = std::array<char, 8>;

Element element_of(const Scalar& number, Dtype dtype) {
  Element element{};
  number.store(dtype, element.data());
  return element;
}

bool is_exact_type(Dtype dtype) { return is_integer(dtype) || is_bool(dtype); }

std::optional<Rewrite> same_as(ValueId id) {
  if (id < 0) return std::nullopt;
  return Rewrite{.same_as = id};
}

std::optional<Rewrite> copy(const IdentityContext& context, const IRNode& node) {
  if (node.op->algebra.copies == Copies::kNever || node.inputs.size() != 1) return std::nullopt;
  const ValueId x = node.inputs[0].id;
  if (x < 0 || context.type(x).dtype != context.type(node.outputs[0]).dtype) return std::nullopt;
  return same_as(x);
}

/// Whether converting any number from `narrow` to `wide` and back preserves it.
bool survives(Dtype narrow, Dtype wide) {
  if (is_bool(narrow)) return true;
  if (is_bool(wide)) return false;
  // f32 -> f64 -> f32 is missing, because the second conversion flushes subnormal numbers; so is bf16 -> f64 -> bf16,
  // which converts through f32.
  if (is_float(narrow))
    return (is_half(narrow) && wide == Dtype::kF32) || (narrow == Dtype::kF16 && wide == Dtype::kF64);
  const size_t bits = 8 * size_of(narrow);
  if (is_integer(wide)) return size_of(wide) >= size_of(narrow);
  const size_t digits = wide == Dtype::kF64 ? 53 : wide == Dtype::kF32 ? 24 : wide == Dtype::kF16 ? 11 : 8;
  return bits <= digits;
}

std::optional<Rewrite> round_trip(const IdentityContext& context, const IRNode& node) {
  if (node.op->algebra.copies != Copies::kUnlessOfDtype) return std::nullopt;
  const IRNode* const inner = context.definer(node.inputs[0].id);
  if (!inner || inner->op != node.op) return std::nullopt;
  const Dtype narrow = context.type(inner->inputs[0].id).dtype;
  if (context.type(node.outputs[0]).dtype != narrow || !survives(narrow, context.type(inner->outputs[0]).dtype))
    return std::nullopt;
  return same_as(inner->inputs[0].id);
}

std::optional<Rewrite> neutral_element(const IdentityContext& context, const IRNode& node) {
  const auto& neutral = node.op->algebra.neutral;
  const TensorType& type = context.type(node.outputs[0]);
  if (!neutral || !is_exact_type(type.dtype)) return std::nullopt;
  const Element neutral_element_bits = element_of(neutral->number, type.dtype);
  for (const size_t side : {size_t{1}, size_t{0}}) {
    if (side == 0 && !neutral->either_side) break;
    const ValueId other = node.inputs[1 - side].id;
    if (other < 0 || context.type(other) != type) continue;
    const auto number = context.uniform(node.inputs[side]);
    if (number && element_of(*number, type.dtype) == neutral_element_bits) return same_as(other);
  }
  return std::nullopt;
}

/// Operand `position` of a node if its type is the type of the result; otherwise, or for a position of -1, -1.
ValueId operand_like_result(const IdentityContext& context, const IRNode& node, int position) {
  if (position < 0) return -1;
  const ValueId id = node.inputs[static_cast<size_t>(position)].id;
  return id >= 0 && context.type(id) == context.type(node.outputs[0]) ? id : -1;
}

std::optional<Rewrite> equal_choices(const IdentityContext& context, const IRNode& node) {
  const Algebra& algebra = node.op->algebra;
  std::pair<int, int> operands = {0, 1};
  if (algebra.choice)
    operands = {algebra.choice->if_true, algebra.choice->if_false};
  else if (!algebra.is_idempotent || node.inputs.size() != 2)
    return std::nullopt;
  const ValueId x = operand_like_result(context, node, operands.first);
  return x == operand_like_result(context, node, operands.second) ? same_as(x) : std::nullopt;
}

std::optional<Rewrite> known_condition(const IdentityContext& context, const IRNode& node) {
  const auto& choice = node.op->algebra.choice;
  if (!choice) return std::nullopt;
  const auto condition = context.uniform(node.inputs[static_cast<size_t>(choice->condition)]);
  if (!condition) return std::nullopt;
  return same_as(operand_like_result(context, node, condition->to_int() != 0 ? choice->if_true : choice->if_false));
}

/// The node that computes the operand, if it has the same op and the same attributes; otherwise null.
const IRNode* applied_twice(const IdentityContext& context, const IRNode& node) {
  const IRNode* const inner = context.definer(node.inputs[0].id);
  return inner && inner->op == node.op && inner->attributes == node.attributes ? inner : nullptr;
}

std::optional<Rewrite> involution(const IdentityContext& context, const IRNode& node) {
  if (!node.op->algebra.is_involution) return std::nullopt;
  const IRNode* const inner = applied_twice(context, node);
  return inner ? same_as(operand_like_result(context, *inner, 0)) : std::nullopt;
}

std::optional<Rewrite> idempotence(const IdentityContext& context, const IRNode& node) {
  if (!node.op->algebra.is_idempotent || node.inputs.size() != 1) return std::nullopt;
  return applied_twice(context, node) ? same_as(node.inputs[0].id) : std::nullopt;
}

constexpr IdentityRule kElementRules[] = {
    {"copy", "elements are read and written unchanged", copy},
    {"round trip", "the wide dtype represents every number of the narrow one, and the conversion back flushes none",
     round_trip},
    {"neutral element", "integers wrap and have one zero; a divisor of 1 raises nothing", neutral_element},
    {"equal choices", "both choices are x, and no arithmetic is done on it, so NaN and subnormal numbers are preserved",
     equal_choices},
    {"known condition", "the condition is the same for all elements, and the other operand is never read",
     known_condition},
    {"involution", "the sign or all bits are flipped twice, without arithmetic", involution},
    {"idempotence", "applying the op to its own result does not change it", idempotence},
};

}  // namespace

std::span<const IdentityRule> element_rules() { return kElementRules; }

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
  if (!node->op->algebra.fill) return std::nullopt;
  const std::optional<Scalar> number = node->op->algebra.fill(call(*node).call());
  if (!number) return std::nullopt;
  return Scalar::load(dtype, element_of(*number, dtype).data());
}

}  // namespace lucid
