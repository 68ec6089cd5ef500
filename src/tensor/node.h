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

/// A place in the graph: result number `output` of a node. Empty where no gradient flows.
struct Edge {
  Ref<GradNode> node;
  uint32_t output = 0;
  explicit operator bool() const { return static_cast<bool>(node); }
  bool operator==(const Edge&) const = default;
};

/// Where a tensor's `.grad` lies. Shared between the handle and the node that fills it, so that neither needs the
/// other.
struct GradSlot : RefCounted {
  /// Set while a gradient is added: several threads may run backward into one leaf.
  BusyFlag adding;
  /// Any thread may replace or clear it at any time.
  AtomicRef<TensorImpl> grad;
  /// Cleared when the tensor stops being a leaf that wants a gradient.
  std::atomic<bool> requires_grad = false;
  /// Set when a recorded in-place operation gave the leaf a gradient node.
  std::atomic<bool> became_interior = false;
  /// The layout that a fresh gradient gets.
  Dims strides;
  /// Whose gradient it keeps, for retain_grad; compared, never followed.
  std::atomic<const GradNode*> retained_from = nullptr;
  /// Called with the whole gradient after it was accumulated.
  HookList after_accumulate;
};

/// Counts how often a root was given another node; shared with those that must notice.
struct RootVersion : RefCounted {
  std::atomic<uint32_t> number = 0;
};

/// Says what copies of nodes are connected to.
class NodeCloner {
 public:
  virtual ~NodeCloner() = default;
  virtual Edge edge(const Edge& edge) = 0;
  /// Gives a copy what its original saved.
  virtual void save(const Snapshot& from, Snapshot& to) = 0;
  /// Says why a node can have no copy.
  virtual void refuse(const std::string& /*why*/) {}
  /// The copy of what several nodes of a graph share: one for all of them.
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

/// A node's place in the order of all nodes. `within` tells apart those that were given one number.
struct NodeOrder {
  uint64_t number = 0;
  uint64_t within = 0;
  auto operator<=>(const NodeOrder&) const = default;
};

/// One recorded operation: where its gradients go, and how they are computed. Nodes are ordered as they were made;
/// edges lead to earlier ones, and backward runs from the latest to the first.
class GradNode : public RefCounted {
 public:
  GradNode(std::vector<Edge> edges, std::vector<TensorType> outputs);
  /// With a place that was set aside before.
  GradNode(std::vector<Edge> edges, std::vector<TensorType> outputs, NodeOrder order);
  /// Destroys long chains without recursion.
  ~GradNode() override;

  /// The op's name, or what else the node stands for: "mul", "accumulate_grad".
  virtual std::string_view name() const = 0;
  /// Takes the gradients of the results (empty where there is none) and passes on those of the edges.
  virtual void run(BackwardPass& pass, Values gradients) = 0;
  /// Drops what was saved; running again is an error if anything was.
  virtual void release_saved() {}
  bool is_released() const { return is_released_.load(std::memory_order_acquire); }
  /// Whether running it does nothing but compute by ops, so that a recording holds all of it.
  virtual bool is_made_of_ops() const { return false; }
  /// A node that does the same elsewhere in a graph; null if there can be none.
  virtual Ref<GradNode> clone(NodeCloner& /*cloner*/) const { return nullptr; }
  /// Places that it refers to besides its edges.
  virtual std::vector<Edge> saved_edges() const { return {}; }

  const NodeOrder& order() const { return order_; }
  /// The number that the next node will get, or a smaller one.
  static uint64_t next_number();
  /// Sets a number aside for nodes that are made later but stand here.
  static uint64_t reserve_number();
  const std::vector<Edge>& edges() const { return edges_; }
  const std::vector<TensorType>& outputs() const { return outputs_; }

  /// The group that it is part of, or null, and its number there.
  NodeGroup* group() const { return group_.get(); }
  uint32_t number_in_group() const { return number_in_group_; }
  void join(Ref<NodeGroup> group, uint32_t number) {
    group_ = std::move(group);
    number_in_group_ = number;
  }

  struct Retained {
    uint32_t output;
    Ref<GradSlot> slot;
    /// For views: stale once the root's number differs.
    Ref<RootVersion> version;
    uint32_t number = 0;
  };
  void add_hook(uint32_t output, HookRef hook, bool may_copy) {
    ensure_extras().hooks.add(output, std::move(hook), may_copy);
  }
  /// Null where there never was one.
  const HookList* hook_list() const { return extras() ? &extras()->hooks : nullptr; }
  std::vector<HookList::Entry> hooks() const {
    return extras() ? extras()->hooks.entries() : std::vector<HookList::Entry>();
  }
  void add_retained(Retained retained);
  std::vector<Retained> retained() const;
  bool retains() const { return extras() && !retained().empty(); }
  /// Whether anybody asked to see this node's gradients.
  bool is_observed() const { return extras() && (!extras()->hooks.empty() || retains()); }

  /// Nodes that this thread made and did not destroy. For leak tests.
  static int64_t live();

 protected:
  /// Throws when backward came here a second time after what it needs was dropped.
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
  std::atomic<Extras*> extras_ = nullptr;  // owned; made by whoever first observes the node
  NodeOrder order_;
  Ref<NodeGroup> group_;
  uint32_t number_in_group_ = 0;
  std::atomic<bool> is_released_ = false;
  GradNode* next_to_destroy_ = nullptr;
};

/// The end of the graph at a leaf: adds the gradient to its `.grad`.
class AccumulateNode : public GradNode {
 public:
  AccumulateNode(TensorType type, Ref<GradSlot> slot);
  std::string_view name() const override { return "accumulate_grad"; }
  void run(BackwardPass& pass, Values gradients) override;
  /// The end of a graph at another leaf, without a gradient.
  Ref<GradNode> clone(NodeCloner& cloner) const override;
  const Ref<GradSlot>& slot() const { return slot_; }

 private:
  Ref<GradSlot> slot_;
};

/// Destroys references to nodes one after the other instead of each inside the one before. For members that lead to
/// nodes. Needs no memory: destructors call it.
void release_later(Ref<GradNode> node);

}  // namespace lucid
