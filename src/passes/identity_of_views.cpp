// Views that are equivalent to no view or to a single other view. Found by applying them to a probe geometry.

#include <algorithm>

#include "ir/evaluate.h"
#include "passes/identity_rules.h"

namespace lucid {
namespace {

/// A geometry whose strides represent all possible strides: each is 1 more than a multiple of 2^20, so no multiple, sum
/// or grouping of some equals another. Empty for sizes with which computations on them could overflow.
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
  std::optional<Geometry> seen;  // the pair applied to `probed`
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

std::optional<Rewrite> identity_view(const IdentityContext& context, const IRNode& node) {
  if (!node.op->view) return std::nullopt;
  const ValueId source = node.inputs[0].id;
  const auto probed = probe(context.type(source).shape);
  const auto seen = probed ? see(context, node, *probed) : std::nullopt;
  if (!seen || !is_same(*seen, *probed)) return std::nullopt;
  return Rewrite{.same_as = source, .keeps_strides = true};
}

std::optional<Rewrite> inverse_views(const IdentityContext& context, const IRNode& node) {
  const auto pair = view_pair(context, node);
  if (!pair || !is_same(*pair->seen, *pair->probed)) return std::nullopt;
  return Rewrite{.same_as = pair->source, .keeps_strides = true};
}

std::optional<Rewrite> composed_permutes(const IdentityContext& context, const IRNode& node) {
  const auto pair = view_pair(context, node);
  if (!pair || pair->seen->strides.size() != pair->probed->strides.size()) return std::nullopt;
  Dims order;
  for (size_t d = 0; d < pair->seen->strides.size(); ++d) {
    const auto& strides = pair->probed->strides;
    const auto from = std::ranges::find(strides, pair->seen->strides[d]) - strides.begin();
    if (from == strides.rank() ||
        !is_same({&pair->probed->sizes[static_cast<size_t>(from)], 1}, {&pair->seen->sizes[d], 1}) ||
        std::ranges::find(order, SymInt(from)) != order.end())
      return std::nullopt;
    order.push_back(from);
  }
  return Rewrite{.instead = viewing(node, "permute", pair->source, order), .keeps_strides = true};
}

/// Whether a view shows every element once, in row-major order.
bool keeps_order(const IdentityContext& context, const IRNode& node) {
  if (!node.op->view) return false;
  const Dims& shape = context.type(node.inputs[0].id).shape;
  const auto seen = see(context, node, {shape, contiguous_strides(shape), 0});
  return seen && numel(seen->sizes) == numel(shape) && is_contiguous(seen->sizes, seen->strides);
}

std::optional<Rewrite> same_shape(const IdentityContext& context, const IRNode& node) {
  if (!keeps_order(context, node)) return std::nullopt;
  const ValueId source = node.inputs[0].id;
  if (!is_same(context.type(source).shape, context.type(node.outputs[0]).shape)) return std::nullopt;
  return Rewrite{.same_as = source};
}

std::optional<Rewrite> composed_reshapes(const IdentityContext& context, const IRNode& node) {
  const IRNode* const inner = inner_view(context, node);
  if (!inner || !keeps_order(context, *inner) || !keeps_order(context, node)) return std::nullopt;
  return Rewrite{.instead = viewing(node, "reshape", inner->inputs[0].id, context.type(node.outputs[0]).shape)};
}

constexpr IdentityRule kViewRules[] = {
    {"identity view", "it shows the memory of its operand through the same geometry, for any strides", identity_view},
    {"inverse views", "together they show the memory of the first view's operand through its own geometry",
     inverse_views},
    {"composed permutes", "together they permute the dimensions, as one permute does", composed_permutes},
    {"same shape", "it shows every element once in row-major order, in the operand's shape", same_shape},
    {"composed reshapes", "both show every element once in row-major order, as one reshape does", composed_reshapes},
};

}  // namespace

std::span<const IdentityRule> view_rules() { return kViewRules; }

}  // namespace lucid
