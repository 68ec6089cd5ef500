// Views that show what another view or nothing would: found by asking what they make of a geometry.

#include <algorithm>

#include "passes/identity_rules.h"

namespace lucid {
namespace {

/// Strides that stand for all strides: no step, sum or grouping of some gives another, for each is 1 more than a
/// multiple of 2^20. Nothing for sizes with which computing with them could overflow.
std::optional<Geometry> probe(const Dims& shape) {
  Geometry geometry{shape, {}, 0};
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] >= int64_t{1} << 20) return std::nullopt;
    geometry.strides.push_back(1 + (static_cast<int64_t>(d + 1) << 20));
  }
  return geometry;
}

struct ViewPair {
  ValueId source;
  std::optional<Geometry> probed;
  std::optional<Geometry> seen;  // what the pair makes of it
};

const IRNode* inner_view(const IdentityContext& context, const IRNode& node) {
  if (!node.op->view) return nullptr;
  const IRNode* const inner = context.definer(node.inputs[0].id);
  return inner && inner->op->view ? inner : nullptr;
}

std::optional<Geometry> see(const IdentityContext& context, const IRNode& node, const Geometry& operand) {
  return node.op->view(context.call(node).call(), operand);
}

std::optional<ViewPair> view_pair(const IdentityContext& context, const IRNode& node) {
  const IRNode* const inner = inner_view(context, node);
  if (!inner) return std::nullopt;
  ViewPair pair{inner->inputs[0].id, probe(context.type(inner->inputs[0].id).shape), std::nullopt};
  if (!pair.probed) return std::nullopt;
  const auto halfway = see(context, *inner, *pair.probed);
  if (halfway) pair.seen = see(context, node, *halfway);
  if (!pair.seen) return std::nullopt;
  return pair;
}

IRNode viewing(const IRNode& node, const char* op, ValueId source, const Dims& attribute) {
  IRNode result = node;
  result.op = &op_table().at(op);
  result.inputs = {{.id = source}};
  result.attributes = {attribute};
  return result;
}

std::optional<Rewrite> whole_view(const IdentityContext& context, const IRNode& node) {
  if (!node.op->view) return std::nullopt;
  const ValueId source = node.inputs[0].id;
  const auto probed = probe(context.type(source).shape);
  if (!probed || see(context, node, *probed) != probed) return std::nullopt;
  return Rewrite{.same_as = source, .keeps_strides = true};
}

std::optional<Rewrite> view_undone(const IdentityContext& context, const IRNode& node) {
  const auto pair = view_pair(context, node);
  if (!pair || pair->seen != pair->probed) return std::nullopt;
  return Rewrite{.same_as = pair->source, .keeps_strides = true};
}

std::optional<Rewrite> two_orders(const IdentityContext& context, const IRNode& node) {
  const auto pair = view_pair(context, node);
  if (!pair || pair->seen->strides.size() != pair->probed->strides.size()) return std::nullopt;
  Dims order;
  for (size_t d = 0; d < pair->seen->strides.size(); ++d) {
    const auto& strides = pair->probed->strides;
    const auto from = std::ranges::find(strides, pair->seen->strides[d]) - strides.begin();
    if (from == strides.rank() || pair->probed->sizes[static_cast<size_t>(from)] != pair->seen->sizes[d] ||
        std::ranges::find(order, from) != order.end())
      return std::nullopt;
    order.push_back(from);
  }
  return Rewrite{.instead = viewing(node, "permute", pair->source, order), .keeps_strides = true};
}

/// Whether a view shows every element once, in row-major order: as many of them, one after another.
bool keeps_order(const IdentityContext& context, const IRNode& node) {
  if (!node.op->view) return false;
  const Dims& shape = context.type(node.inputs[0].id).shape;
  const auto seen = see(context, node, {shape, contiguous_strides(shape), 0});
  return seen && numel(seen->sizes) == numel(shape) && is_contiguous(seen->sizes, seen->strides);
}

std::optional<Rewrite> same_shape(const IdentityContext& context, const IRNode& node) {
  if (!keeps_order(context, node)) return std::nullopt;
  const ValueId source = node.inputs[0].id;
  if (context.type(source).shape != context.type(node.outputs[0]).shape) return std::nullopt;
  return Rewrite{.same_as = source};
}

std::optional<Rewrite> two_shapes(const IdentityContext& context, const IRNode& node) {
  const IRNode* const inner = inner_view(context, node);
  if (!inner || !keeps_order(context, *inner) || !keeps_order(context, node)) return std::nullopt;
  return Rewrite{.instead = viewing(node, "reshape", inner->inputs[0].id, context.type(node.outputs[0]).shape)};
}

constexpr IdentityRule kRules[] = {
    {"whole view", "it shows the memory of its operand through the same geometry, whatever the strides", whole_view},
    {"view undone", "together they show the memory of the first's operand through its own geometry", view_undone},
    {"two orders", "together they put the dimensions in another order, as one permute does", two_orders},
    {"same shape", "it shows every element once in row-major order, in the shape that they had", same_shape},
    {"two shapes", "both show every element once in row-major order, as one reshape does", two_shapes},
};

}  // namespace

std::span<const IdentityRule> view_rules() { return kRules; }

}  // namespace lucid
