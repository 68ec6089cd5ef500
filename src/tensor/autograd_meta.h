#pragma once

#include <atomic>
#include <mutex>

#include "tensor/node.h"

namespace lucid {

/// The leaf's end of the graph, once something was recorded on it. Made by whoever records first, and several threads
/// may: recording on a tensor only reads it for its user.
class LeafEnd {
 public:
  LeafEnd() = default;
  LeafEnd(const LeafEnd&) = delete;
  LeafEnd& operator=(const LeafEnd&) = delete;
  ~LeafEnd() { reset(); }

  AccumulateNode* get() const { return node_.load(std::memory_order_acquire); }
  AccumulateNode* operator->() const { return get(); }
  AccumulateNode& operator*() const { return *get(); }
  explicit operator bool() const { return get() != nullptr; }
  /// `make` returns a Ref<AccumulateNode>; it is called at most once, while no other thread makes one.
  template <typename Make>
  AccumulateNode* get_or_make(const Make& make) {
    if (AccumulateNode* node = get()) return node;
    const std::lock_guard lock(mutex_of(LockRank::kLeafEnd));
    if (!get()) node_.store(make().detach(), std::memory_order_release);
    return get();
  }
  void reset() { Ref<AccumulateNode>::adopt(node_.exchange(nullptr)); }

 private:
  std::atomic<AccumulateNode*> node_ = nullptr;
};

/// A handle's part in the gradient graph; most tensors have none.
struct AutogradMeta : Pooled<AutogradMeta> {
  /// Of a root: the result it is. Of a view: its own node, valid while the root's graph version has not changed.
  Edge edge;
  /// Holds `.grad`; made when one is asked for, set or retained.
  Ref<GradSlot> slot;
  LeafEnd accumulator;
  /// Of a root, once somebody must notice that it is rebased.
  Ref<RootVersion> version;
  /// Of a root that was rebased: the place of the nodes that views get for it when they are first asked for one. The
  /// order of sums must not depend on who asks when.
  uint64_t views_number = 0;
  bool requires_grad = false;
  bool retains_grad = false;
};

/// Whether ops on the tensor are recorded: it is a leaf that asked for it, the result of a recorded op, or a view of
/// one.
bool requires_grad(const TensorImpl& tensor);
inline bool requires_grad(const Operand& operand) { return operand.is_value() && requires_grad(*tensor_of(operand)); }
/// The node that made the tensor (`grad_fn`); empty for leaves. A view's is made anew if its root was rebased.
Edge gradient_node(TensorImpl& tensor);
inline bool is_leaf(TensorImpl& tensor) { return !gradient_node(tensor); }
/// Where the tensor's gradient goes: its node, or a leaf's accumulator; empty if it is dropped.
Edge gradient_edge(TensorImpl& tensor);

/// Makes a tensor the result of a recorded op.
void set_gradient_node(TensorImpl& tensor, Edge edge);
/// Gives a root another place in the graph after a recorded in-place operation; all its views follow.
void rebase(TensorImpl& root, Edge edge);

// What users call.

/// Throws RuntimeError for dtypes that are no floats and for results of recorded ops.
void set_requires_grad(TensorImpl& tensor, bool requires_grad);
/// Keeps the gradient of a tensor that is no leaf.
void retain_grad(TensorImpl& tensor);
bool retains_grad(const TensorImpl& tensor);

/// Removes the hook that it was returned for.
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

/// Throws RuntimeError when the tensor does not require grad. `may_copy` is HookList::Entry's.
HookHandle register_hook(TensorImpl& tensor, GradientHook hook, bool may_copy = false);
/// Runs after a gradient was added to a leaf's `.grad`, which it is given; what it returns is ignored.
HookHandle register_post_accumulate_hook(TensorImpl& tensor, GradientHook hook);

TensorRef gradient(const TensorImpl& tensor);
/// Throws when the gradient's shape or dtype is not the tensor's. Null clears it.
void set_gradient(TensorImpl& tensor, TensorRef gradient);

/// A new root on the same memory, outside the graph.
TensorRef detach(const TensorImpl& tensor);
/// `tensor.data = source`: the handle is bound to the source's memory; its views keep the old.
void set_data(TensorImpl& tensor, const TensorImpl& source);

}  // namespace lucid
