#include "tensor/autograd_meta.h"

#include "base/error.h"
#include "tensor/grad_mode.h"
#include "tensor/observer.h"
#include "tensor/region.h"

namespace lucid {
namespace {

GradSlot& ensure_slot(TensorImpl& tensor) {
  AutogradMeta& meta = tensor.ensure_autograd();
  if (!meta.slot) {
    meta.slot = make_ref<GradSlot>();
    meta.slot->requires_grad = meta.requires_grad;
  }
  return *meta.slot;
}

/// Keeps the gradient that arrives at the tensor's node until the tensor gets another node. For a view, `version` is
/// its graph version with this node.
void attach_retained(TensorImpl& tensor, const Edge& edge, uint32_t version) {
  GradSlot& slot = ensure_slot(tensor);
  slot.retained_from = edge.node.get();
  GradNode::Retained retained{.output = edge.output, .slot = Ref<GradSlot>(&slot), .version = nullptr};
  if (tensor.is_view()) {
    AutogradMeta& root = tensor.root()->ensure_autograd();
    if (!root.version) {
      root.version = make_ref<RootVersion>();
      root.version->number = tensor.root()->graph_version();
    }
    retained.version = root.version;
    retained.number = version;
  }
  edge.node->add_retained(std::move(retained));
}

void on_hook(const GradNode* node) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->hooked(node);
}

void bump_version(TensorImpl& root) {
  root.set_graph_version(root.graph_version() + 1);
  if (AutogradMeta* meta = root.autograd(); meta && meta->version) meta->version->number = root.graph_version();
}

/// The position of the new node of a view whose root was rebased to `whole`: right after `whole`. New nodes of several
/// views are ordered like their old nodes.
NodeOrder order_of_stale(const AutogradMeta& view, const AutogradMeta& root, const Edge& whole) {
  const uint64_t fresh = GradNode::reserve_number();
  if (root.views_number <= whole.node->order().number) return {fresh, 0};
  if (!view.edge) return {root.views_number, fresh};
  const NodeOrder& old = view.edge.node->order();
  return {root.views_number, old.within ? old.within : old.number};
}

/// Whether the root of a view moved to another position in the graph after the view's node was created. A view whose
/// root was bound to other memory keeps its position.
bool is_stale(const TensorImpl& view) {
  const TensorImpl& root = *view.root();
  return view.view_kind() == ViewKind::kRecorded && view.graph_version() != root.graph_version() &&
         view.cell() == root.cell() && requires_grad(root);
}

/// Gives a stale view its new node. Several threads may do so at once: to the user, recording on a view only reads it.
void renew_node(TensorImpl& view) {
  Edge old;  // destroyed after the lock is released: destruction may run Python code
  const std::lock_guard lock(mutex_of(LockRank::kViewNode));
  if (!is_stale(view)) return;
  TensorImpl& root = *view.root();
  AutogradMeta& meta = view.ensure_autograd();
  Edge whole = gradient_edge(root);
  const NodeOrder order = order_of_stale(meta, *root.autograd(), whole);
  old =
      std::exchange(meta.edge, {make_ref<GatherNode>(std::move(whole), root.type(), region_of(root, view), order), 0});
  if (meta.retains_grad) attach_retained(view, meta.edge, root.graph_version());
  view.set_graph_version(root.graph_version());
}

}  // namespace

bool requires_grad(const TensorImpl& tensor) {
  // Check the view's root first: other threads may be giving the view a new node.
  if (tensor.is_view())
    if (const AutogradMeta* root = tensor.root()->autograd(); root && (root->requires_grad || root->edge)) return true;
  const AutogradMeta* meta = tensor.autograd();
  return meta && (meta->requires_grad || meta->edge);
}

Edge gradient_node(TensorImpl& tensor) {
  if (tensor.is_view()) {
    if (tensor.view_kind() == ViewKind::kNoGrad) return {};
    if (is_stale(tensor)) [[unlikely]]
      renew_node(tensor);
  }
  const AutogradMeta* meta = tensor.autograd();
  return meta ? meta->edge : Edge();
}

Edge gradient_edge(TensorImpl& tensor) {
  if (Edge edge = gradient_node(tensor)) return edge;
  AutogradMeta* meta = tensor.autograd();
  if (!meta || !meta->requires_grad) return {};
  AccumulateNode* end = meta->accumulator.get_or_make([&] {
    const Dims& sizes = tensor.sizes();
    Dims strides = is_dense(sizes, tensor.strides()) ? tensor.strides() : contiguous_strides(sizes);
    return make_ref<AccumulateNode>(tensor.type(), std::move(strides), meta->slot);
  });
  return {end, 0};
}

void set_gradient_node(TensorImpl& tensor, Edge edge) { tensor.ensure_autograd().edge = std::move(edge); }

void rebase(TensorImpl& root, Edge edge) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->rebases(root);
  AutogradMeta& meta = root.ensure_autograd();
  meta.edge = std::move(edge);
  meta.views_number = GradNode::reserve_number();
  meta.requires_grad = false;
  if (meta.accumulator) meta.slot->became_interior = true;
  bump_version(root);
  if (meta.retains_grad && meta.edge) attach_retained(root, meta.edge, root.graph_version());
}

void set_requires_grad(TensorImpl& tensor, bool wanted) {
  if (wanted && !is_float(tensor.dtype()))
    throw RuntimeError("requires_grad_: only tensors of a floating point dtype can require gradients, got {}",
                       to_string(tensor.type()));
  if (!is_leaf(tensor)) {
    if (wanted) return;
    throw RuntimeError(
        "requires_grad_: the flag can only be cleared on leaf tensors; use detach() to take a result out of the graph");
  }
  on_change(tensor, "changes whether a tensor from outside requires grad");
  AutogradMeta& meta = tensor.ensure_autograd();
  meta.requires_grad = wanted;
  if (wanted || meta.slot) ensure_slot(tensor).requires_grad = wanted;
  if (!tensor.is_view()) bump_version(tensor);
}

void retain_grad(TensorImpl& tensor) {
  if (!requires_grad(tensor))
    throw RuntimeError("retain_grad: the tensor does not require grad, so it will have no gradient to keep");
  on_escape(tensor, "calls retain_grad");
  const Edge edge = gradient_node(tensor);
  if (!edge) return;
  AutogradMeta& meta = tensor.ensure_autograd();
  if (meta.retains_grad) return;
  meta.retains_grad = true;
  attach_retained(tensor, edge, tensor.graph_version());
}

bool retains_grad(const TensorImpl& tensor) { return tensor.autograd() && tensor.autograd()->retains_grad; }

HookHandle register_hook(TensorImpl& tensor, GradientHook hook, bool may_copy) {
  if (!requires_grad(tensor))
    throw RuntimeError("register_hook: the tensor does not require grad, so the hook would never be called");
  auto shared = std::make_shared<RegisteredHook>(std::move(hook));
  if (const Edge edge = gradient_edge(tensor)) {
    on_hook(edge.node.get());
    edge.node->add_hook(edge.output, shared, may_copy);
  }
  return HookHandle(std::move(shared));
}

HookHandle register_post_accumulate_hook(TensorImpl& tensor, GradientHook hook) {
  if (!requires_grad(tensor) || !is_leaf(tensor))
    throw RuntimeError("register_post_accumulate_grad_hook: only leaf tensors that require grad accumulate a gradient");
  on_hook(nullptr);
  auto shared = std::make_shared<RegisteredHook>(std::move(hook));
  ensure_slot(tensor).after_accumulate.add(0, shared, false);
  return HookHandle(std::move(shared));
}

TensorRef gradient(const TensorImpl& tensor) {
  const AutogradMeta* meta = tensor.autograd();
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->gradient_read(&tensor, meta ? meta->slot.get() : nullptr);
  return meta && meta->slot ? meta->slot->grad.load() : TensorRef();
}

void set_gradient(TensorImpl& tensor, TensorRef gradient) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->gradient_replaced(&tensor, tensor.autograd() ? tensor.autograd()->slot.get() : nullptr);
  if (!gradient) {
    if (AutogradMeta* meta = tensor.autograd(); meta && meta->slot) meta->slot->grad.store(nullptr);
    return;
  }
  if (gradient.get() == &tensor) throw RuntimeError("grad: a tensor cannot be its own gradient");
  if (gradient->sizes() != tensor.sizes() || gradient->dtype() != tensor.dtype())
    throw RuntimeError("grad: the gradient of {} must have the same dtype and shape, got {}", to_string(tensor.type()),
                       to_string(gradient->type()));
  if (gradient->device() != tensor.device())
    throw RuntimeError("grad: the gradient of a tensor on {} must be on the same device, got one on {}",
                       to_string(tensor.device()), to_string(gradient->device()));
  ensure_slot(tensor).grad.store(std::move(gradient));
}

TensorRef detach(const TensorImpl& tensor) {
  TensorRef result = alias_of(tensor);
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->detached(tensor, *result);
  return result;
}

TensorRef own_handle(TensorRef tensor) {
  if (tensor->use_count() == 1) return tensor;
  TensorRef own = alias_of(*tensor);
  if (!GradMode::enabled()) return own;
  own->share_autograd(*tensor);
  if (tensor->is_view()) own->set_view_of(tensor->root(), tensor->view_kind());
  return own;
}

void set_data(TensorImpl& tensor, const TensorImpl& source) {
  if (requires_grad(tensor) && !is_float(source.dtype()))
    throw RuntimeError("data: {} requires grad and cannot be bound to {}, which is not floating point",
                       to_string(tensor.type()), to_string(source.type()));
  on_change(tensor, "binds a tensor from outside to other memory");
  const bool same_type = tensor.type() == source.type();
  tensor.rebind(source.dtype(), source.sizes(), source.strides(), source.offset(), source.cell());
  // The accumulator expects gradients of the old type. Recorded uses keep it; new uses get another one.
  if (AutogradMeta* meta = tensor.autograd(); meta && meta->accumulator && !same_type) meta->accumulator.reset();
}

}  // namespace lucid
