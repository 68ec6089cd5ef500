#pragma once

#include <optional>
#include <span>

#include "passes/graph_edit.h"

namespace lucid {

/// What a rule looks at beside the node itself.
class IdentityContext {
 public:
  IdentityContext(const IRGraph& graph, const ConstantPool& constants) : graph_(graph), constants_(constants) {}

  const TensorType& type(ValueId id) const { return graph_.type(id); }
  NodeCall call(const IRNode& node) const { return NodeCall(graph_, node); }
  /// The node that computes a value; null for leaves.
  const IRNode* definer(ValueId id) const;
  /// Makes a node known, which has to stay where it is.
  void define(const IRNode& node);
  /// The number that every element of an operand is, as its dtype holds it. Nothing when they differ or are not known.
  std::optional<Scalar> uniform(const IROperand& operand) const;

 private:
  const IRGraph& graph_;
  const ConstantPool& constants_;
  std::map<ValueId, const IRNode*> definers_;
};

/// What a node may be replaced with.
struct Rewrite {
  /// The value that has the bits of the node's one result; -1 when there is none.
  ValueId same_as = -1;
  /// Otherwise a node that computes the same, with the same outputs.
  std::optional<IRNode> instead;
  /// The strides are the same too, whatever the operands' are.
  bool keeps_strides = false;
};

struct IdentityRule {
  const char* name;
  /// Why it keeps every bit.
  const char* why;
  std::optional<Rewrite> (*apply)(const IdentityContext& context, const IRNode& node);
};

/// Rules on views (identity_of_views.cpp) and on elements (identity_of_elements.cpp). Nodes come with one result and
/// verify.
std::span<const IdentityRule> view_rules();
std::span<const IdentityRule> element_rules();

}  // namespace lucid
