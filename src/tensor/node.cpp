#include "tensor/node.h"

#include <atomic>
#include <cctype>

#include "base/error.h"
#include "tensor/accumulate.h"
#include "tensor/engine.h"

namespace lucid {
namespace {

std::atomic<uint64_t> g_next_number = 1;

constinit thread_local int64_t t_live_nodes = 0;

/// The last node of the list that waits to be destroyed, and whether a caller up the stack is destroying the list.
constinit thread_local GradNode* t_last_waiting = nullptr;
constinit thread_local bool t_is_destroying = false;

}  // namespace

void release_later(Ref<GradNode> node) {
  // Others still refer to it: dropping this reference destroys nothing.
  if (!node || node->use_count() > 1) return;
  node->next_to_destroy_ = t_last_waiting;
  t_last_waiting = node.detach();
  if (t_is_destroying) return;
  t_is_destroying = true;
  while (t_last_waiting) {
    const auto next = Ref<GradNode>::adopt(t_last_waiting);
    t_last_waiting = next->next_to_destroy_;
  }
  t_is_destroying = false;
}

GradNode::GradNode(std::vector<Edge> edges, std::vector<TensorType> outputs)
    : GradNode(std::move(edges), std::move(outputs), {reserve_number(), 0}) {}

GradNode::GradNode(std::vector<Edge> edges, std::vector<TensorType> outputs, NodeOrder order)
    : edges_(std::move(edges)), outputs_(std::move(outputs)), order_(order) {
  ++t_live_nodes;
}

GradNode::~GradNode() {
  --t_live_nodes;
  delete extras_.load(std::memory_order_acquire);
  for (Edge& edge : edges_) release_later(std::move(edge.node));
}

uint64_t GradNode::next_number() { return g_next_number.load(std::memory_order_relaxed); }

uint64_t GradNode::reserve_number() { return g_next_number.fetch_add(1, std::memory_order_relaxed); }

int64_t GradNode::live() { return t_live_nodes; }

GradNode::Extras& GradNode::ensure_extras() {
  const std::lock_guard lock(mutex_of(LockRank::kHooks, this));
  if (!extras()) extras_.store(new Extras, std::memory_order_release);
  return *extras_.load(std::memory_order_relaxed);
}

void GradNode::add_retained(Retained retained) {
  std::vector<Retained>& all = ensure_extras().retained;
  const std::lock_guard lock(mutex_of(LockRank::kHooks, this));
  all.push_back(std::move(retained));
}

std::vector<GradNode::Retained> GradNode::retained() const {
  if (!extras()) return {};
  const std::lock_guard lock(mutex_of(LockRank::kHooks, this));
  return extras()->retained;
}

void GradNode::fail_released() const {
  throw RuntimeError(
      "backward: trying to go through the graph a second time, at {}: its saved tensors were freed by the first pass. "
      "Pass retain_graph=True to the first backward or grad call",
      name());
}

AccumulateNode::AccumulateNode(TensorType type, Dims strides, Ref<GradSlot> slot)
    : GradNode({}, {std::move(type)}), strides_(std::move(strides)), slot_(std::move(slot)) {}

Ref<GradNode> AccumulateNode::clone(NodeCloner&) const {
  auto slot = make_ref<GradSlot>();
  slot->requires_grad = slot_->requires_grad.load();
  slot->became_interior = slot_->became_interior.load();
  return make_ref<AccumulateNode>(outputs()[0], strides_, std::move(slot));
}

void AccumulateNode::run(BackwardPass& pass, Values gradients) {
  if (slot_->became_interior)
    throw RuntimeError(
        "backward: a leaf tensor was moved into the graph's interior by an in-place operation recorded after its use");
  if (!slot_->requires_grad) return;
  accumulate_gradient(*slot_, std::move(gradients.front()), strides_, pass.creates_graph());
  const HookList& hooks = slot_->after_accumulate;
  for (auto entry = hooks.next(0); entry; entry = hooks.next(entry->number)) {
    // Another thread may have removed the hook, or cleared the gradient.
    const GradientHook hook = entry->hook->get();
    if (const TensorRef grad = slot_->grad.load(); hook && grad) hook(Value(grad));
  }
}

std::string class_name_of(const GradNode& node) {
  std::string text;
  bool upper = true;
  for (char c : node.name()) {
    if (c == '_') {
      upper = true;
    } else {
      text += upper ? static_cast<char>(std::toupper(c)) : c;
      upper = false;
    }
  }
  return text + "Backward";
}

}  // namespace lucid
