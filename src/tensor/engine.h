#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/emitter.h"
#include "tensor/node.h"

namespace lucid {

struct Region;

/// One run backward through the graph. Nodes run from the last recorded to the first, so gradients are summed in one
/// fixed order. Ops of gradient rules are recorded in turn when the pass creates a graph.
class BackwardPass {
 public:
  struct Settings {
    bool create_graph = false;
    bool retain_graph = false;
    /// When given: gradients are returned for these places instead of accumulated in leaves.
    const std::vector<Edge>* inputs = nullptr;
  };
  explicit BackwardPass(const Settings& settings) : settings_(settings) {}

  /// Runs until nothing is left; returns the gradients of the inputs, empty where none arrived.
  Values run(std::span<const Edge> roots, Values gradients);

  // For nodes while they run.

  Emitter& emitter() const;
  bool creates_graph() const { return settings_.create_graph; }
  /// Whether a gradient passed to this edge would be used.
  bool needs(const Edge& edge) const { return edge && (!settings_.inputs || needed_.contains(edge.node.get())); }
  /// Adds to the gradient of an edge, after summing stretched dimensions and converting to the dtype found there.
  void add(const Edge& edge, Value gradient);
  /// Adds to a part of the gradient of an edge.
  void add_region(const Edge& edge, Region region, Value gradient);

  // For groups of nodes while they run.

  const Settings& settings() const { return settings_; }
  /// A node that has a gradient and did not run yet, and its place.
  using Ready = std::pair<NodeOrder, const GradNode*>;
  /// In no order.
  std::span<const Ready> ready() const { return ready_; }
  /// The sum that a place has so far; null where none was begun.
  Value* find_sum(const GradNode& node, uint32_t output);
  /// Gives a place its sum, whatever it had.
  void set_sum(const Edge& edge, Value sum) { gradient_of(edge) = std::move(sum); }
  /// Runs the nodes of a group one by one, from `first` on, and nothing that stands between them: they are observed by
  /// nobody. Adds each to `ran` before it runs.
  void run_nodes(const NodeGroup& group, const NodeOrder& first, std::vector<GradNode*>& ran);
  /// Runs whatever else is ready and stands after a place.
  void run_after(const NodeOrder& place);
  /// What is ready of the group was run.
  void drop(const NodeGroup& group);

 private:
  struct Task {
    Ref<GradNode> node;
    Values gradients;
  };
  Value& gradient_of(const Edge& edge);
  /// Takes what is ready and stands last.
  Task next();
  void find_needed(std::span<const Edge> roots);
  void process(Task task);
  void observe(GradNode& node, Values& gradients);
  bool leads_to_needed(const GradNode& node) const;

  Settings settings_;
  std::unordered_map<const GradNode*, Task> tasks_;
  /// A heap.
  std::vector<Ready> ready_;
  /// The group whose nodes run one by one.
  const NodeGroup* declined_ = nullptr;
  std::unordered_set<const GradNode*> needed_;
  Values captured_;
};

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
};

/// Adds the gradients of `outputs` to the `.grad` of the leaves they depend on, or only of `inputs` if any are given.
/// An absent gradient means 1 for an output of one element.
void backward(std::span<const TensorRef> outputs, std::span<const TensorRef> gradients, const BackwardOptions& options,
              std::span<const TensorRef> inputs = {});

/// The gradients of `outputs` with respect to `inputs`. Null where an input has no part in them, if `allow_unused`.
std::vector<TensorRef> grad(std::span<const TensorRef> outputs, std::span<const TensorRef> inputs,
                            std::span<const TensorRef> gradients, const BackwardOptions& options, bool allow_unused);

}  // namespace lucid
