#pragma once

#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/node_call.h"
#include "passes/constants.h"

namespace lucid {

/// The values that leave a graph: its outputs and the new values of states.
std::set<ValueId> results_of(const IRGraph& graph);

/// Removes what is said of values that nothing defines any more.
void drop_undefined(IRGraph& graph, ConstantPool& constants);

/// Values that stand in for others while a pass walks the nodes in order.
///
/// A result of the graph is only stood in for by a value that a node computes and that is no result itself: handles to
/// results are separate, so those would be copied again when they leave the plan, and an output that is an input would
/// look like the argument handed back.
class Substitution {
 public:
  explicit Substitution(const IRGraph& graph);
  /// Whether `id` may stand in for `gone`: the types are the same, and the rule above holds.
  bool allows(ValueId gone, ValueId id) const;
  void add(ValueId gone, ValueId id);
  ValueId operator()(ValueId id) const;
  /// Names the stand-ins in a node's operands; in the graph's outputs and updates.
  void apply(IRNode& node) const;
  void apply_to_results(IRGraph& graph) const;
  bool empty() const { return stand_ins_.empty(); }

 private:
  const IRGraph& graph_;
  std::set<ValueId> results_;
  std::set<ValueId> leaves_;
  std::map<ValueId, ValueId> stand_ins_;
};

}  // namespace lucid
