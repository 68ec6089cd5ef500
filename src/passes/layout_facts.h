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

/// How values lie, by the rules that plans are laid out with (schedule/layout.cpp). Strides of outputs are visible to
/// users, so a pass may not change them. Worked out when asked for, since few nodes are.
class LayoutFacts {
 public:
  /// Knows constants, which are contiguous; nothing of inputs, parameters and states.
  explicit LayoutFacts(const IRGraph& graph);
  /// A node that later ones may read. It must outlive the facts, or its values be defined anew.
  void define(const IRNode& node);
  /// Of a value that is defined or a leaf.
  const LayoutFact& of(ValueId id);
  /// Of what a node would compute.
  std::vector<LayoutFact> of(const IRNode& node);

 private:
  /// Works out what the node reads, without recursion: chains may be as long as graphs.
  void find_operands(const IRNode& node);
  std::vector<LayoutFact> apply(const IRNode& node) const;

  const IRGraph& graph_;
  std::map<ValueId, const IRNode*> definers_;
  std::map<ValueId, LayoutFact> facts_;
};

/// The values whose strides an output's or update's may follow.
std::set<ValueId> values_with_visible_layout(const IRGraph& graph);

}  // namespace lucid
