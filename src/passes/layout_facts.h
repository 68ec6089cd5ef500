#pragma once

#include <map>
#include <optional>
#include <set>

#include "ir/graph.h"

namespace lucid {

/// What is known of how a value lies in memory before the strides of inputs are.
struct LayoutFact {
  /// In elements, where they are the same for all strides that inputs may have.
  std::optional<Dims> strides;
  /// An elementwise op on this value alone gives a result with its strides, whatever they are: so for elementwise
  /// results without dimensions of size 1, whose strides are arbitrary and follow other rules.
  bool settled = false;
};

/// How values lie, worked out node by node in order by the rules that plans are laid out with (schedule/layout.cpp).
/// Strides of outputs are visible to users, so a pass may not change them.
class LayoutFacts {
 public:
  /// Knows constants, which are contiguous; nothing of inputs, parameters and states.
  explicit LayoutFacts(const IRGraph& graph);
  /// Facts of what a node would compute from values already known.
  std::vector<LayoutFact> of(const IRNode& node) const;
  const LayoutFact& of(ValueId id) const { return facts_.at(id); }
  void set(const IRNode& node, std::vector<LayoutFact> facts);

 private:
  const IRGraph& graph_;
  std::map<ValueId, LayoutFact> facts_;
};

/// The values whose strides an output's or update's may follow.
std::set<ValueId> values_with_visible_layout(const IRGraph& graph);

}  // namespace lucid
