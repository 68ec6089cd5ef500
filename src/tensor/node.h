#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/atomic_ref.h"
#include "base/busy_flag.h"
#include "tensor/gradient_hook.h"
#include "tensor/node_group.h"
#include "tensor/tensor_impl.h"

namespace lucid {

class BackwardPass;
class GradNode;
class Snapshot;

/// A position in the graph: output `output` of a node. Empty where no gradient flows.
struct Edge {
  Ref<GradNode> node;
  uint32_t output = 0;
  explicit operator bool() const { return static_cast<bool>(node); }
  bool operator==(const Edge&) const = default;
};

/// Holds a tensor's `.grad`. Shared by the handle and the node that fills it, so that neither keeps the other alive.
struct GradSlot : RefCounted {
  /// Set while a gradient is added: several threads may run backward into one leaf.
  BusyFlag adding;
  /// Any thread may replace or clear it at any time.
  AtomicRef<TensorImpl> grad;
  /// Cleared when the tensor stops being a leaf that requires grad.
  std::atomic<bool> requires_grad = false;
  /// Set when a recorded in-place operation turned the leaf into an interior tensor.
  std::atomic<bool> became_interior = false;
  /// For retain_grad: the node whose gradient it keeps. Only compared, never dereferenced.
  std::atomic<const GradNode*> retained_from = nullptr;
  /// Called with the total gradient after each accumulation.
  HookList after_accumulate;
};

/// Counts the rebases of a root. Shared with everything that must detect them.
struct RootVersion : RefCounted {
  std::atomic<uint32_t> number = 0;
};

/// Supplies the connections of cloned nodes.
class NodeCloner {
 public:
  virtual ~NodeCloner() = default;
  virtual Edge edge(const Edge& edge) = 0;
  /// Gives a clone the tensor that its original saved.
  virtual void save(const Snapshot& from, Snapshot& to) = 0;
  /// Called with the reason why a node cannot be cloned.
  virtual void refuse(const std::string& /*why*/) {}
  /// The clone of an object that several nodes of a graph share: created once for all of them.
  template <typename T>
  std::shared_ptr<T> shared(const std::shared_ptr<T>& original, const std::function<std::shared_ptr<T>()>& make) {
    std::shared_ptr<void>& copy = shared_[original.get()];
    if (!copy) copy = make();
    return std::static_pointer_cast<T>(copy);
  }

  std::vector<Edge> edges(const std::vector<Edge>& originals) {
    std::vector<Edge> copies;
    copies.reserve(originals.size());
    for (const Edge& original : originals) copies.push_back(original ? edge(original) : Edge());
    return copies;
  }

 private:
  std::unordered_map<const void*, std::shared_ptr<void>> shared_;
};

/// A node's position in the total order of nodes. `within` orders nodes with the same number.
struct NodeOrder {
  uint64_t number = 0;
  uint64_t within = 0;
  auto operator<=>(const NodeOrder&) const = default;
};

/// One recorded operation: how its gradients are computed, and the edges that they flow to. Nodes are ordered by
/// creation. Edges lead to earlier nodes; backward runs from the latest node to the earliest.
class GradNode : public RefCounted {
 public:
  GradNode(std::vector<Edge> edges, std::vector<TensorType> outputs);
  /// With a position that was reserved earlier.
  GradNode(std::vector<Edge> edges, std::vector<TensorType> outputs, NodeOrder order);
  /// Destroys long chains iteratively, without recursion.
  ~GradNode() override;

  /// The op's name, or a name for another kind of node: "mul", "accumulate_grad".
  virtual std::string_view name() const = 0;
  /// Receives the gradients of the outputs (empty where there is none) and passes gradients on to the edges.
  virtual void run(BackwardPass& pass, Values gradients) = 0;
  /// Drops the saved tensors. Running the node again is then an error, if it had any.
  virtual void release_saved() {}
  bool is_released() const { return is_released_.load(std::memory_order_acquire); }
  /// Whether running it only calls ops, so that a recording captures all of its effect.
  virtual bool is_made_of_ops() const { return false; }
  /// An equivalent node for another graph; null if the node cannot be cloned.
  virtual Ref<GradNode> clone(NodeCloner& /*cloner*/) const { return nullptr; }
  /// Positions that it refers to in addition to its edges.
  virtual std::vector<Edge> saved_edges() const { return {}; }

  const NodeOrder& order() const { return order_; }
  /// The number of the next node, or a lower bound on it if other threads create nodes.
  static uint64_t next_number();
  /// Reserves a number for nodes that are created later but ordered here.
  static uint64_t reserve_number();
  const std::vector<Edge>& edges() const { return edges_; }
  const std::vector<TensorType>& outputs() const { return outputs_; }

  /// Its group, or null, and its index in the group.
  NodeGroup* group() const { return group_.get(); }
  uint32_t index_in_group() const { return index_in_group_; }
  void join(Ref<NodeGroup> group, uint32_t index) {
    group_ = std::move(group);
    index_in_group_ = index;
  }

  struct Retained {
    uint32_t output;
    Ref<GradSlot> slot;
    /// For views: the entry is stale once the root's version differs from `number`.
    Ref<RootVersion> version;
    uint32_t number = 0;
  };
  void add_hook(uint32_t output, HookRef hook, bool may_copy) {
    ensure_extras().hooks.add(output, std::move(hook), may_copy);
  }
  /// Null if no hook or retained gradient was ever registered.
  const HookList* hook_list() const { return extras() ? &extras()->hooks : nullptr; }
  std::vector<HookList::Entry> hooks() const {
    return extras() ? extras()->hooks.entries() : std::vector<HookList::Entry>();
  }
  void add_retained(Retained retained);
  std::vector<Retained> retained() const;
  bool retains() const { return extras() && !retained().empty(); }
  /// Whether a hook or retain_grad observes this node's gradients.
  bool is_observed() const { return extras() && (!extras()->hooks.empty() || retains()); }

  /// Number of nodes created but not destroyed by this thread. For leak tests.
  static int64_t live();

 protected:
  /// Throws the error for a second backward pass after the saved tensors were released.
  [[noreturn]] void fail_released() const;
  void set_outputs(std::vector<TensorType> outputs) { outputs_ = std::move(outputs); }
  void set_released(bool is_released = true) { is_released_.store(is_released, std::memory_order_release); }

 private:
  friend void release_later(Ref<GradNode> node);
  struct Extras {
    HookList hooks;
    std::vector<Retained> retained;
  };
  const Extras* extras() const { return extras_.load(std::memory_order_acquire); }
  Extras& ensure_extras();

  std::vector<Edge> edges_;
  std::vector<TensorType> outputs_;
  std::atomic<Extras*> extras_ = nullptr;  // owned; created by the first hook or retain_grad
  NodeOrder order_;
  Ref<NodeGroup> group_;
  uint32_t index_in_group_ = 0;
  std::atomic<bool> is_released_ = false;
  GradNode* next_to_destroy_ = nullptr;
};

/// The accumulator of a leaf: adds incoming gradients to its `.grad`.
class AccumulateNode : public GradNode {
 public:
  /// `strides`: those of a newly created gradient.
  AccumulateNode(TensorType type, Dims strides, Ref<GradSlot> slot);
  std::string_view name() const override { return "accumulate_grad"; }
  void run(BackwardPass& pass, Values gradients) override;
  /// The accumulator of another leaf, without a gradient.
  Ref<GradNode> clone(NodeCloner& cloner) const override;
  const Ref<GradSlot>& slot() const { return slot_; }
  const Dims& strides() const { return strides_; }

 private:
  const Dims strides_;
  Ref<GradSlot> slot_;
};

/// Releases a reference to a node without recursion: nodes destroyed as a consequence are destroyed one after the
/// other. Destructors use it for members that refer to nodes. Does not allocate.
void release_later(Ref<GradNode> node);

/// "MulBackward" for the node "mul".
std::string class_name_of(const GradNode& node);

}  // namespace lucid
