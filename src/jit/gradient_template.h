#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "jit/backward_part.h"
#include "jit/trace.h"
#include "jit/tracing_context.h"
#include "tensor/node.h"

namespace lucid::jit {

/// The gradient graph of a recorded call, without the tensors that its nodes saved. Later calls get copies of it in
/// place of the graph that they would have recorded. It ends at the handles of the call.
class GradientTemplate {
 public:
  /// Copies the nodes that `results` lead to. `handles` are the call's, arguments first. The results may include
  /// handles that the call moved in the graph. On failure `obstacle` says why.
  GradientTemplate(TracingContext& context, std::span<const TensorRef> results, std::span<const TensorRef> handles,
                   std::string& obstacle);

  /// A graph without nodes.
  GradientTemplate() = default;

  bool empty() const { return nodes_.empty(); }
  /// The tensors that nodes saved.
  const std::vector<TracedView>& saved() const { return saved_; }
  /// Whether result i is the output of a node; otherwise it is not part of the graph.
  bool has_node(size_t result) const { return static_cast<bool>(edges_[result]); }

  /// Divides the graph into parts, so that backward can run later copies by plans.
  void plan_backward(const std::string& name);
  /// Says whether backward passes wait for plans that are being compiled.
  void set_waits(bool waits);
  /// The backward plans so far.
  std::vector<BackwardPlanInfo> backward_plans() const;

  /// The nodes, for inspection.
  const std::vector<Ref<GradNode>>& nodes() const { return nodes_; }

  /// Copies the graph for one call, whose nodes save the tensors `saved`, in the order of saved(). Returns the edges of
  /// the results. Results that are leaves must exist already.
  std::vector<Edge> instantiate(std::span<const TensorRef> saved, std::span<TensorImpl* const> handles,
                                std::span<TensorImpl* const> results) const;

 private:
  class TemplateCloner;
  class CallCloner;

  /// GradNode::number_in_group() of a node is its index in nodes_. Numbers from kFirstEnd on are placeholders for
  /// handles, followed by results.
  static constexpr uint32_t kFirstEnd = 1u << 31;

  std::vector<Ref<GradNode>> nodes_;  // in the order of creation
  std::vector<Edge> edges_;           // of the results
  std::vector<TracedView> saved_;
  std::vector<bool> is_computed_;                      // for each of saved_: whether the call created its cell
  std::vector<size_t> saved_by_;                       // node i saved the range [saved_by_[i], saved_by_[i + 1])
  std::unordered_map<const Snapshot*, size_t> slots_;  // the index in saved_ of each node's snapshots
  BackwardParts backward_;
};

}  // namespace lucid::jit
