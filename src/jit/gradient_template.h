#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "jit/backward_part.h"
#include "jit/trace.h"
#include "jit/tracing_context.h"
#include "tensor/node.h"

namespace lucid::jit {

/// The gradient graph that a recorded call made, without anything that it saved: copies of it are what later calls
/// would have recorded. It ends at the handles that the call was given.
class GradientTemplate {
 public:
  /// Copies the nodes that `results` lead to. `handles` are the call's, arguments first. Among the results may be some
  /// of those, which were given other places in the graph. On failure `obstacle` says why.
  GradientTemplate(TracingContext& context, std::span<const TensorRef> results, std::span<const TensorRef> handles,
                   std::string& obstacle);

  bool empty() const { return nodes_.empty(); }
  /// What nodes saved: parts of cells.
  const std::vector<Place>& saved() const { return saved_; }
  /// Whether result i is a node's, as opposed to taking no part in the graph.
  bool has_node(size_t result) const { return static_cast<bool>(edges_[result]); }

  /// From now on, copies are made so that backward may run them by plans.
  void plan_backward(const std::string& name);
  /// The plans that there are.
  std::vector<BackwardPlanInfo> backward_plans() const;

  /// The nodes, to look at.
  const std::vector<Ref<GradNode>>& nodes() const { return nodes_; }

  /// A graph on the tensors that the saved places hold in this call; returns the places of the results. Those that are
  /// leaves exist already.
  std::vector<Edge> instantiate(std::span<const TensorRef> saved, std::span<TensorImpl* const> handles,
                                std::span<TensorImpl* const> results) const;

 private:
  class Maker;
  class Filler;

  /// A node's number is its place here; others stand for handles, or for results, counted after these.
  static constexpr uint32_t kFirstEnd = 1u << 31;

  std::vector<Ref<GradNode>> nodes_;  // in the order of their making
  std::vector<Edge> edges_;           // of the results
  std::vector<Place> saved_;
  std::vector<bool> is_computed_;                      // whether it lies in a cell that the call made
  std::vector<size_t> saved_by_;                       // for each node, and behind the last, the first that it saved
  std::unordered_map<const Snapshot*, size_t> slots_;  // which saved place a node's snapshot gets
  BackwardParts backward_;
};

}  // namespace lucid::jit
