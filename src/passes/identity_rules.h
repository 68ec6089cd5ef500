#pragma once

#include <optional>
#include <span>

#include "passes/graph_edit.h"

namespace lucid {

/// The information that a rule uses in addition to the node itself.
class IdentityContext {
 public:
  IdentityContext(const IRGraph& graph, const ConstantPool& constants) : graph_(graph), constants_(constants) {}

  const TensorType& type(ValueId id) const { return graph_.type(id); }
  NodeCall call(const IRNode& node) const { return NodeCall(graph_, node); }
  /// The node that computes a value; null for leaves.
  const IRNode* definer(ValueId id) const;
  /// Registers a node, whose address must remain valid.
  void define(const IRNode& node);
  /// The value that all elements of an operand share, converted to its dtype. Empty if they differ or are not known.
  std::optional<Scalar> uniform(const IROperand& operand) const;

 private:
  const IRGraph& graph_;
  const ConstantPool& constants_;
  std::map<ValueId, const IRNode*> definers_;
};

/// A replacement for a node.
struct Rewrite {
  /// The value that has the same bits as the node's only result; -1 if there is none.
  ValueId same_as = -1;
  /// Otherwise a node that computes the same, with the same outputs.
  std::optional<IRNode> instead;
  /// Whether the strides are the same too, for any strides of the operands.
  bool keeps_strides = false;
};

struct IdentityRule {
  const char* name;
  /// Why the rule keeps every bit.
  const char* why;
  std::optional<Rewrite> (*apply)(const IdentityContext& context, const IRNode& node);
};

/// Rules for views (identity_of_views.cpp) and for elementwise ops (identity_of_elements.cpp). They apply to valid
/// nodes with one result.
std::span<const IdentityRule> view_rules();
std::span<const IdentityRule> element_rules();

}  // namespace lucid
