#pragma once

#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tensor/node.h"

namespace lucid {

class Emitter;
struct Region;

/// One backward pass through the graph. Nodes run from the last recorded to the first, so gradients are summed in a
/// fixed order. If the pass creates a graph, the ops of gradient rules are recorded too.
class BackwardPass {
 public:
  struct Settings {
    bool create_graph = false;
    bool retain_graph = false;
    /// If set, the pass returns the gradients of these positions instead of accumulating gradients in leaves.
    const std::vector<Edge>* inputs = nullptr;
  };
  explicit BackwardPass(const Settings& settings) : settings_(settings) {}

  /// Runs until no node is ready. Returns the gradients of `inputs`, empty where none arrived.
  Values run(std::span<const Edge> roots, Values gradients);

  // For nodes while they run.

  Emitter& emitter() const;
  bool creates_graph() const { return settings_.create_graph; }
  /// Whether a gradient passed to this edge would be used.
  bool needs(const Edge& edge) const { return edge && (!settings_.inputs || needed_.contains(edge.node.get())); }
  /// Adds to the gradient of an edge, after summing broadcast dimensions and converting to the dtype expected there.
  void add(const Edge& edge, Value gradient);
  /// Adds to a part of the gradient of an edge.
  void add_region(const Edge& edge, Region region, Value gradient);

  // For groups of nodes while they run.

  const Settings& settings() const { return settings_; }
  /// A node that has a gradient and has not run yet, with its position.
  using Ready = std::pair<NodeOrder, const GradNode*>;
  /// Unordered.
  std::span<const Ready> ready() const { return ready_; }
  /// The gradient accumulated for a node output so far; null if there is none.
  Value* find_sum(const GradNode& node, uint32_t output);
  /// Replaces the accumulated gradient of a node output.
  void set_sum(const Edge& edge, Value sum) { gradient_of(edge) = std::move(sum); }
  /// Runs the nodes of a group one by one, starting at position `first`, and skips ready nodes outside the group. Hooks
  /// do not run, so the group's nodes must not be observed. Appends each node to `ran` before it runs.
  void run_nodes(const NodeGroup& group, const NodeOrder& first, std::vector<GradNode*>& ran);
  /// Runs all other ready nodes ordered after a position.
  void run_after(const NodeOrder& place);
  /// Discards the ready nodes of a group, which have been run.
  void drop(const NodeGroup& group);

 private:
  struct Task {
    Ref<GradNode> node;
    Values gradients;
  };
  Value& gradient_of(const Edge& edge);
  /// Removes and returns the ready node that is last in the order.
  Task next();
  void find_needed(std::span<const Edge> roots);
  void process(Task task);
  void observe(GradNode& node, Values& gradients);
  bool leads_to_needed(const GradNode& node) const;

  Settings settings_;
  std::unordered_map<const GradNode*, Task> tasks_;
  /// A heap, last node first.
  std::vector<Ready> ready_;
  /// The group that declined to run as one; its nodes run one by one.
  const NodeGroup* declined_ = nullptr;
  std::unordered_set<const GradNode*> needed_;
  Values captured_;
};

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
};

/// Adds the gradients of `outputs` to the `.grad` of the leaves they depend on, or only of `inputs` if any are given.
/// A missing gradient means 1 for an output of one element.
void backward(std::span<const TensorRef> outputs, std::span<const TensorRef> gradients, const BackwardOptions& options,
              std::span<const TensorRef> inputs = {});

/// The gradients of `outputs` with respect to `inputs`. With `allow_unused`, null for inputs that the outputs do not
/// depend on.
std::vector<TensorRef> grad(std::span<const TensorRef> outputs, std::span<const TensorRef> inputs,
                            std::span<const TensorRef> gradients, const BackwardOptions& options, bool allow_unused);

}  // namespace lucid
