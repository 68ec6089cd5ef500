#include "tensor/function.h"

#include <algorithm>

#include "base/error.h"
#include "ir/emitter.h"
#include "tensor/autograd_meta.h"
#include "tensor/compute.h"
#include "tensor/engine.h"
#include "tensor/grad_mode.h"

namespace lucid {

class FunctionNode : public GradNode {
 public:
  FunctionNode(CustomFunction function, std::vector<Edge> edges)
      : GradNode(std::move(edges), {}), function_(std::move(function)) {}

  std::string_view name() const override { return function_.name; }

  void run(BackwardPass& pass, Values gradients) override {
    if (is_released()) fail_released();
    creates_graph_ = pass.creates_graph();
    std::vector<TensorRef> given;
    for (size_t i = 0; i < gradients.size(); ++i) {
      const DeviceScope device(outputs()[i].device);
      if (!gradients[i] && context_.materialize_)
        gradients[i] = pass.emitter().full(outputs()[i].shape, 0, outputs()[i].dtype);
      given.emplace_back(gradients[i] ? tensor_of(gradients[i]) : nullptr);
    }
    gradients.clear();
    context_.node_ = this;
    std::vector<TensorRef> found = function_.backward(context_, given);
    given.clear();
    if (found.size() > edges().size() &&
        std::any_of(found.begin() + static_cast<std::ptrdiff_t>(edges().size()), found.end(),
                    [](const TensorRef& extra) { return static_cast<bool>(extra); }))
      throw RuntimeError("{}: backward returned {} gradients for {} inputs", name(), found.size(), edges().size());
    for (size_t i = 0; i < edges().size(); ++i) {
      if (i >= found.size()) {
        if (pass.needs(edges()[i]))
          throw RuntimeError("{}: backward returned {} gradients for {} inputs", name(), found.size(), edges().size());
        continue;
      }
      if (!found[i] || !pass.needs(edges()[i])) continue;
      found[i] = own_handle(std::move(found[i]));
      check_shape(i, *found[i]);
      pass.add(edges()[i], Value(std::move(found[i])));
    }
  }

  void release_saved() override {
    if (saved_.empty() || is_released()) return;
    set_released();
    // Keep the list itself: another thread may be iterating over it.
    for (const Saved& saved : saved_)
      if (saved.snapshot) saved.snapshot->drop();
  }

  std::vector<TensorRef> unpack() {
    if (is_released()) fail_released();
    std::vector<TensorRef> tensors;
    for (const Saved& saved : saved_) {
      if (!saved.snapshot) {
        tensors.emplace_back();
        continue;
      }
      TensorRef tensor = saved.snapshot->tensor();
      if (!tensor) fail_released();
      if (creates_graph_ && saved.output >= 0)
        set_gradient_node(*tensor, {Ref<GradNode>(this), static_cast<uint32_t>(saved.output)});
      else if (creates_graph_ && saved.edge)
        set_gradient_node(*tensor, saved.edge);
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  /// Saves the tensors that forward passed to save_for_backward. Results are stored by index, because their position in
  /// the graph is this node. `returned` are the handles that forward returned, `results` those that the caller gets.
  void finish(FunctionContext context, std::span<const TensorRef> returned, std::span<const TensorRef> results) {
    std::vector<TensorType> types;
    for (const TensorRef& result : results) types.push_back(result->type());
    set_outputs(std::move(types));
    for (const TensorRef& tensor : context.to_save_) {
      Saved saved;
      if (tensor) {
        saved.snapshot = std::make_unique<Snapshot>(*tensor);
        const auto result = std::find(returned.begin(), returned.end(), tensor);
        if (result != returned.end())
          saved.output = static_cast<int>(result - returned.begin());
        else if (requires_grad(*tensor))
          saved.edge = gradient_edge(*tensor);
      }
      saved_.push_back(std::move(saved));
    }
    context_ = std::move(context);
    context_.to_save_.clear();
    context_.non_differentiable_.clear();
  }

  ~FunctionNode() override {
    for (Saved& saved : saved_) release_later(std::move(saved.edge.node));
  }

  Ref<GradNode> clone(NodeCloner& cloner) const override {
    if (!function_.copy) return nullptr;
    auto copy = make_ref<FunctionNode>(function_.copy(cloner), cloner.edges(edges()));
    copy->set_outputs(outputs());
    copy->context_.needed_ = context_.needed_;
    copy->context_.materialize_ = context_.materialize_;
    copy->set_released(is_released());
    for (const Saved& saved : saved_) {
      Saved& to = copy->saved_.emplace_back();
      to.output = saved.output;
      if (saved.edge) to.edge = cloner.edge(saved.edge);
      if (!saved.snapshot) continue;
      to.snapshot = std::make_unique<Snapshot>();
      cloner.save(*saved.snapshot, *to.snapshot);
    }
    return copy;
  }

  std::vector<Edge> saved_edges() const override {
    std::vector<Edge> places;
    for (const Saved& saved : saved_)
      if (saved.edge) places.push_back(saved.edge);
    return places;
  }

  const CustomFunction& function() const { return function_; }

 private:
  struct Saved {
    std::unique_ptr<Snapshot> snapshot;
    Edge edge;
    int output = -1;
  };

  void check_shape(size_t i, const TensorImpl& gradient) const {
    const Dims& wanted = edges()[i].node->outputs()[edges()[i].output].shape;
    const bool fits = gradient.sizes().size() >= wanted.size();
    bool same = fits;
    const size_t lead = fits ? gradient.sizes().size() - wanted.size() : 0;
    for (size_t d = 0; same && d < wanted.size(); ++d)
      same = gradient.sizes()[lead + d] == wanted[d] || wanted[d] == 1 || gradient.sizes()[lead + d] == 1;
    if (!same)
      throw RuntimeError("{}: backward returned a gradient {} for input {} of shape {}", name(),
                         to_string(gradient.type()), i, to_string(DimsView(wanted)));
  }

  CustomFunction function_;
  FunctionContext context_;
  std::vector<Saved> saved_;
  bool creates_graph_ = false;
};

const CustomFunction* custom_function_of(const GradNode& node) {
  const auto* function = dynamic_cast<const FunctionNode*>(&node);
  return function ? &function->function() : nullptr;
}

std::vector<TensorRef> FunctionContext::saved_tensors() const { return node_ ? node_->unpack() : to_save_; }

/// Gives apply_function access to the context's private members.
struct FunctionCall {
  static std::vector<bool>& needed(FunctionContext& context) { return context.needed_; }
  static bool is_marked(const FunctionContext& context, const TensorRef& tensor) {
    const auto& marked = context.non_differentiable_;
    return std::find(marked.begin(), marked.end(), tensor) != marked.end();
  }
};

std::vector<TensorRef> apply_function(const CustomFunction& function, std::span<const TensorRef> inputs) {
  FunctionContext context;
  std::vector<Edge> edges(inputs.size());
  bool recorded = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool wants = GradMode::enabled() && inputs[i] && requires_grad(*inputs[i]);
    FunctionCall::needed(context).push_back(wants);
    if (wants) edges[i] = gradient_edge(*inputs[i]);
    recorded |= wants;
  }
  std::vector<TensorRef> returned;
  std::vector<TensorRef> results;
  {
    const GradModeScope no_grad(false);
    returned = function.forward(context, inputs);
    results = returned;
    // A result that is an input or a view gets its own handle, because its position in the graph is this function.
    for (TensorRef& result : results) {
      if (!result) throw TypeError("{}: forward must return tensors", function.name);
      const bool is_input = std::find(inputs.begin(), inputs.end(), result) != inputs.end();
      if (is_input || result->is_view() || requires_grad(*result)) result = detach(*result);
    }
  }
  if (!recorded) return results;
  const Ref<FunctionNode> node = make_ref<FunctionNode>(function, std::move(edges));
  std::vector<bool> differentiable;
  for (const TensorRef& result : returned)
    differentiable.push_back(is_float(result->dtype()) && !FunctionCall::is_marked(context, result));
  node->finish(std::move(context), returned, results);
  for (size_t i = 0; i < results.size(); ++i)
    if (differentiable[i]) set_gradient_node(*results[i], {node, static_cast<uint32_t>(i)});
  return results;
}

}  // namespace lucid
