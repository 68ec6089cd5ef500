#include "tensor/engine.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/accumulate.h"
#include "tensor/autograd_meta.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/observer.h"
#include "tensor/region.h"

namespace lucid {
namespace {

/// Converts a gradient to the shape, dtype and device of the tensor it belongs to.
Value fit(Emitter& e, Value gradient, const TensorType& type) {
  if (gradient.shape() != type.shape) {
    LUCID_CHECK(gradient.rank() >= type.shape.rank(), "a gradient {} arrived for {}", to_string(gradient.type()),
                to_string(type));
    gradient = e.sum_to(gradient, type.shape);
    if (gradient.shape() != type.shape) gradient = e.expand(gradient, type.shape);
  }
  gradient = e.cast(gradient, type.dtype);
  return gradient.device() == type.device ? gradient : e.to_device(gradient, to_string(type.device));
}

}  // namespace

Emitter& BackwardPass::emitter() const { return eager(); }

Value& BackwardPass::gradient_of(const Edge& edge) {
  const auto [it, is_new] = tasks_.try_emplace(edge.node.get());
  Task& task = it->second;
  if (is_new) {
    task.node = edge.node;
    task.gradients.resize(edge.node->outputs().size());
    ready_.emplace_back(edge.node->order(), edge.node.get());
    std::push_heap(ready_.begin(), ready_.end());
  }
  return task.gradients[edge.output];
}

void BackwardPass::add(const Edge& edge, Value gradient) {
  if (!gradient || !needs(edge)) return;
  gradient = fit(emitter(), std::move(gradient), edge.node->outputs()[edge.output]);
  Value& sum = gradient_of(edge);
  if (!sum)
    sum = std::move(gradient);
  else
    sum = add_gradients(std::move(sum), std::move(gradient));
}

void BackwardPass::add_region(const Edge& edge, Region region, Value gradient) {
  if (!gradient || !needs(edge)) return;
  if (has_internal_overlap(region.part.sizes, region.part.strides)) {
    // The view repeats elements: sum the gradients of each element first.
    for (size_t i = 0; i < region.part.sizes.size(); ++i)
      if (region.part.strides[i] == 0) region.part.sizes[i] = 1;
    gradient = emitter().sum_to(gradient, region.part.sizes);
  }
  Value& sum = gradient_of(edge);
  sum = sum ? add_to_region(std::move(sum), region, gradient) : embed_region(region, gradient);
}

void BackwardPass::find_needed(std::span<const Edge> roots) {
  std::vector<const GradNode*> found;
  std::unordered_set<const GradNode*> seen;
  std::vector<const GradNode*> stack;
  for (const Edge& root : roots) stack.push_back(root.node.get());
  while (!stack.empty()) {
    const GradNode* node = stack.back();
    stack.pop_back();
    if (!seen.insert(node).second) continue;
    found.push_back(node);
    for (const Edge& edge : node->edges())
      if (edge) stack.push_back(edge.node.get());
  }
  for (const Edge& input : *settings_.inputs)
    if (input) needed_.insert(input.node.get());
  std::sort(found.begin(), found.end(), [](const GradNode* a, const GradNode* b) { return a->order() < b->order(); });
  for (const GradNode* node : found)
    if (leads_to_needed(*node)) needed_.insert(node);
}

bool BackwardPass::leads_to_needed(const GradNode& node) const {
  return std::any_of(node.edges().begin(), node.edges().end(),
                     [&](const Edge& edge) { return edge && needed_.contains(edge.node.get()); });
}

Values BackwardPass::run(std::span<const Edge> roots, Values gradients) {
  const GradModeScope mode(settings_.create_graph);
  if (settings_.inputs) {
    find_needed(roots);
    captured_.resize(settings_.inputs->size());
    // Hooks of the outputs run even if no input depends on them.
    for (const Edge& root : roots) needed_.insert(root.node.get());
  }
  for (size_t i = 0; i < roots.size(); ++i) add(roots[i], std::move(gradients[i]));
  gradients.clear();
  while (!ready_.empty()) {
    NodeGroup* const group = ready_.front().second->group();
    if (group && group != declined_) {
      if (group->run(*this)) continue;
      declined_ = group;
    }
    process(next());
  }
  return std::move(captured_);
}

BackwardPass::Task BackwardPass::next() {
  std::pop_heap(ready_.begin(), ready_.end());
  const auto found = tasks_.find(ready_.back().second);
  ready_.pop_back();
  Task task = std::move(found->second);
  tasks_.erase(found);
  return task;
}

Value* BackwardPass::find_sum(const GradNode& node, uint32_t output) {
  const auto found = tasks_.find(&node);
  return found == tasks_.end() || !found->second.gradients[output] ? nullptr : &found->second.gradients[output];
}

void BackwardPass::run_nodes(const NodeGroup& group, const NodeOrder& first, std::vector<GradNode*>& ran) {
  std::vector<Ready> others;
  const auto put_back = [&] {
    for (const Ready& other : others) {
      ready_.push_back(other);
      std::push_heap(ready_.begin(), ready_.end());
    }
  };
  try {
    while (!ready_.empty() && ready_.front().first >= first) {
      if (ready_.front().second->group() != &group) {
        others.push_back(ready_.front());
        std::pop_heap(ready_.begin(), ready_.end());
        ready_.pop_back();
        continue;
      }
      Task task = next();
      if (settings_.inputs && !leads_to_needed(*task.node)) continue;
      ran.push_back(task.node.get());
      task.node->run(*this, std::move(task.gradients));
      if (!settings_.retain_graph) task.node->release_saved();
    }
  } catch (...) {
    put_back();
    throw;
  }
  put_back();
}

void BackwardPass::run_after(const NodeOrder& place) {
  while (!ready_.empty() && ready_.front().first > place) process(next());
}

void BackwardPass::drop(const NodeGroup& group) {
  std::erase_if(ready_, [&](const Ready& entry) {
    if (entry.second->group() != &group) return false;
    tasks_.erase(entry.second);
    return true;
  });
  std::make_heap(ready_.begin(), ready_.end());
}

void BackwardPass::process(Task task) {
  GradNode& node = *task.node;
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->ran(node);
  observe(node, task.gradients);
  if (settings_.inputs && !leads_to_needed(node)) return;
  node.run(*this, std::move(task.gradients));
  if (!settings_.retain_graph) node.release_saved();
}

void BackwardPass::observe(GradNode& node, Values& gradients) {
  if (node.is_observed()) {
    const HookList& hooks = *node.hook_list();
    for (auto entry = hooks.next(0); entry; entry = hooks.next(entry->number)) {
      const GradientHook function = entry->hook->get();
      Value& gradient = gradients[entry->output];
      if (!function || !gradient) continue;
      Value replaced = function(gradient);
      if (!replaced) continue;
      const TensorType& type = node.outputs()[entry->output];
      if (replaced.shape() != type.shape)
        throw RuntimeError("a gradient hook returned {} for a gradient {}; the shape must not change",
                           to_string(replaced.type()), to_string(type));
      if (replaced.device() != type.device)
        throw RuntimeError("a gradient hook returned {} for a gradient {}; the device must not change",
                           to_string(replaced.type()), to_string(type));
      gradient = emitter().cast(replaced, type.dtype);
    }
    // The hooks may have kept the gradients.
    for (Value& gradient : gradients) {
      if (!gradient) continue;
      TensorRef seen(tensor_of(gradient));
      gradient = Value();
      gradient = own_handle(std::move(seen));
    }
  }
  if (settings_.inputs)
    for (size_t i = 0; i < settings_.inputs->size(); ++i) {
      const Edge& input = (*settings_.inputs)[i];
      if (input.node.get() == &node) captured_[i] = gradients[input.output];
    }
  if (!node.is_observed()) return;
  for (const GradNode::Retained& retained : node.retained()) {
    const bool current =
        retained.slot->retained_from == &node && (!retained.version || retained.version->number == retained.number);
    if (current && gradients[retained.output]) retain_gradient(*retained.slot, gradients[retained.output]);
  }
}

}  // namespace lucid
