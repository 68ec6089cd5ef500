#pragma once

#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/node_call.h"
#include "passes/constants.h"

namespace lucid {

/// The results of a graph: its outputs and the new values of states.
std::set<ValueId> results_of(const IRGraph& graph);

/// The results of the nodes with effects, in order. A pass does not change them.
std::vector<ValueId> effects_of(const IRGraph& graph);

/// Removes types and constant data of values that nothing defines any more.
void drop_undefined(IRGraph& graph, ConstantPool& constants);

/// Replaces values by others while a pass walks the nodes in order.
///
/// A result of the graph may only be replaced by a value that a node computes and that is not itself a result. Every
/// result is a separate tensor, so a shared value would be copied when it leaves the plan, and an output that is an
/// input would appear to return the argument itself.
class Substitution {
 public:
  explicit Substitution(const IRGraph& graph);
  /// Whether `new_id` may replace `old_id`: the types are the same, and the rule above holds.
  bool allows(ValueId old_id, ValueId new_id) const;
  void add(ValueId old_id, ValueId new_id);
  ValueId operator()(ValueId id) const;
  /// Substitutes the operands of a node.
  void apply(IRNode& node) const;
  /// Substitutes the graph's outputs and updates.
  void apply_to_results(IRGraph& graph) const;
  bool empty() const { return replacements_.empty(); }

 private:
  const IRGraph& graph_;
  std::set<ValueId> results_;
  std::set<ValueId> leaves_;
  std::map<ValueId, ValueId> replacements_;
};

}  // namespace lucid
