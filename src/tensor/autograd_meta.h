#pragma once

#include <atomic>
#include <mutex>

#include "tensor/node.h"

namespace lucid {

/// The accumulator node of a leaf, created when the first op on the leaf is recorded. Several threads may record at
/// once: to the user, recording only reads the tensor.
class LeafAccumulator {
 public:
  LeafAccumulator() = default;
  LeafAccumulator(const LeafAccumulator&) = delete;
  LeafAccumulator& operator=(const LeafAccumulator&) = delete;
  ~LeafAccumulator() { reset(); }

  AccumulateNode* get() const { return node_.load(std::memory_order_acquire); }
  AccumulateNode* operator->() const { return get(); }
  AccumulateNode& operator*() const { return *get(); }
  explicit operator bool() const { return get() != nullptr; }
  /// `make` returns a Ref<AccumulateNode>. It is called at most once, under a lock.
  template <typename Make>
  AccumulateNode* get_or_make(const Make& make) {
    if (AccumulateNode* node = get()) return node;
    const std::lock_guard lock(mutex_of(LockRank::kLeafAccumulator));
    if (!get()) node_.store(make().detach(), std::memory_order_release);
    return get();
  }
  void reset() { Ref<AccumulateNode>::adopt(node_.exchange(nullptr)); }

 private:
  std::atomic<AccumulateNode*> node_ = nullptr;
};

/// A handle's gradient state. Most tensors have none.
struct AutogradMeta : RefCounted, Pooled<AutogradMeta> {
  /// For a root: the node output that it is. For a view: its own node, valid until the root's graph version changes.
  Edge edge;
  /// Holds `.grad`. Created when the gradient is required, set or retained.
  Ref<GradSlot> slot;
  LeafAccumulator accumulator;
  /// For a root: created when something must detect that the root was rebased.
  Ref<RootVersion> version;
  /// For a rebased root: the sequence number of the nodes that its views get on first use. It is reserved in advance so
  /// that the order of gradient sums does not depend on when each view is used.
  uint64_t views_number = 0;
  bool requires_grad = false;
  bool retains_grad = false;
};

/// Whether ops on the tensor are recorded: it is a leaf that requires grad, the result of a recorded op, or their view.
bool requires_grad(const TensorImpl& tensor);
inline bool requires_grad(const Operand& operand) { return operand.is_value() && requires_grad(*tensor_of(operand)); }
/// The node that created the tensor (`grad_fn`); empty for leaves. A view's node is recreated if its root was rebased.
Edge gradient_node(TensorImpl& tensor);
inline bool is_leaf(TensorImpl& tensor) { return !gradient_node(tensor); }
/// The destination of the tensor's gradient: its node, or a leaf's accumulator. Empty if the gradient is dropped.
Edge gradient_edge(TensorImpl& tensor);

/// Makes a tensor the result of a recorded op.
void set_gradient_node(TensorImpl& tensor, Edge edge);
/// Moves a root to another position in the graph after a recorded in-place operation. All its views follow.
void rebase(TensorImpl& root, Edge edge);

// The public operations on a tensor's gradient state.

/// Throws RuntimeError for non-float dtypes and for results of recorded ops.
void set_requires_grad(TensorImpl& tensor, bool requires_grad);
/// Keeps the gradient of a non-leaf tensor.
void retain_grad(TensorImpl& tensor);
bool retains_grad(const TensorImpl& tensor);

/// Removes the hook whose registration returned it.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(HookRef hook) : hook_(std::move(hook)) {}
  void remove() {
    if (hook_) hook_->remove();
  }

 private:
  HookRef hook_;
};

/// Throws RuntimeError if the tensor does not require grad. For `may_copy` see HookList::Entry.
HookHandle register_hook(TensorImpl& tensor, GradientHook hook, bool may_copy = false);
/// Registers a hook that is called with a leaf's `.grad` after each accumulation. Its return value is ignored.
HookHandle register_post_accumulate_hook(TensorImpl& tensor, GradientHook hook);

TensorRef gradient(const TensorImpl& tensor);
/// Throws if the gradient's shape or dtype differs from the tensor's. Null clears the gradient.
void set_gradient(TensorImpl& tensor, TensorRef gradient);

/// A new root on the same memory, outside the graph.
TensorRef detach(const TensorImpl& tensor);
/// The tensor on a handle that nothing else refers to, with the same position in the graph: itself if this is the only
/// reference, otherwise a new handle. A backward pass runs without the caller's lock: it uses handles that Python code
/// may hold only through this function.
TensorRef own_handle(TensorRef tensor);
/// `tensor.data = source`: binds the handle to the source's memory. Its views keep the old memory.
void set_data(TensorImpl& tensor, const TensorImpl& source);

}  // namespace lucid
