#pragma once

#include <map>
#include <optional>
#include <set>

#include "ir/graph.h"

namespace lucid {

/// What is known about the memory layout of a value before the strides of the inputs are known.
struct LayoutFact {
  /// Strides in elements, if they are the same for all possible strides of the inputs.
  std::optional<Dims> strides;
  /// Whether an elementwise op on this value alone returns a result with the same strides, whatever they are. True for
  /// elementwise results without dimensions of size 1; the strides of those are arbitrary and follow other rules.
  bool kept_by_elementwise = false;
};

/// The layouts of values, by the same rules as in plans (schedule/layout.cpp). Strides of outputs are visible to users,
/// so a pass may not change them. Facts are computed on demand, since few are needed.
class LayoutFacts {
 public:
  /// Constants are contiguous. Nothing is known about inputs, parameters and states.
  explicit LayoutFacts(const IRGraph& graph);
  /// Registers a node that later nodes may read. It must outlive this object, unless its values are redefined.
  void define(const IRNode& node);
  /// The fact for a leaf or a value of a registered node.
  const LayoutFact& of(ValueId id);
  /// The facts for the results of a node.
  std::vector<LayoutFact> of(const IRNode& node);

 private:
  /// Computes the facts for the operands of a node. Not recursive, because chains may be as long as graphs.
  void find_operands(const IRNode& node);
  std::vector<LayoutFact> apply(const IRNode& node) const;

  const IRGraph& graph_;
  std::map<ValueId, const IRNode*> definers_;
  std::map<ValueId, LayoutFact> facts_;
};

/// The values whose strides may affect those of an output or update.
std::set<ValueId> values_with_visible_layout(const IRGraph& graph);

}  // namespace lucid
