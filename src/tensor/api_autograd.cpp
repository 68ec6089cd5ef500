#include <lucid/autograd.h>

#include "tensor/api.h"
#include "tensor/autograd_meta.h"
#include "tensor/engine.h"
#include "tensor/function.h"
#include "tensor/grad_mode.h"

namespace lucid {
namespace {

std::vector<TensorRef> refs_of(const std::vector<Tensor>& tensors) {
  std::vector<TensorRef> refs;
  for (const Tensor& tensor : tensors) refs.push_back(ref_of(tensor));
  return refs;
}

std::vector<Tensor> wrap_all(std::span<const TensorRef> refs) {
  std::vector<Tensor> tensors;
  for (const TensorRef& ref : refs) tensors.push_back(wrap(ref));
  return tensors;
}

}  // namespace

GradModeGuard::GradModeGuard() : saved_enabled_(GradMode::enabled()), saved_inference_(GradMode::inference()) {}
GradModeGuard::~GradModeGuard() {
  GradMode::set_enabled(saved_enabled_);
  GradMode::set_inference(saved_inference_);
}
NoGrad::NoGrad() { GradMode::set_enabled(false); }
EnableGrad::EnableGrad() {
  GradMode::set_enabled(true);
  GradMode::set_inference(false);
}
InferenceMode::InferenceMode(bool mode) {
  GradMode::set_enabled(!mode);
  GradMode::set_inference(mode);
}
bool grad_enabled() { return GradMode::enabled(); }
bool inference_mode_enabled() { return GradMode::inference(); }

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs, const GradOptions& options) {
  for (const Tensor& tensor : outputs) unwrap(tensor);
  for (const Tensor& tensor : inputs) unwrap(tensor);
  return wrap_all(grad(refs_of(outputs), refs_of(inputs), refs_of(grad_outputs),
                       {.retain_graph = options.retain_graph, .create_graph = options.create_graph},
                       options.allow_unused));
}

std::function<void()> register_hook(const Tensor& tensor, std::function<Tensor(const Tensor& gradient)> hook) {
  HookHandle handle = register_hook(unwrap(tensor), [hook = std::move(hook)](const Value& gradient) -> Value {
    return value_of(hook(wrap(gradient)));
  });
  return [handle]() mutable { handle.remove(); };
}

std::vector<Tensor> Function::saved_tensors() const { return unpack_ ? unpack_() : saved_; }

std::vector<Tensor> Function::apply(const std::shared_ptr<Function>& function, const std::vector<Tensor>& inputs) {
  CustomFunction custom;
  custom.name = function->name();
  custom.forward = [function](FunctionContext& context, std::span<const TensorRef> given) {
    const std::vector<Tensor> results = function->forward(wrap_all(given));
    context.save_for_backward(refs_of(function->saved_));
    function->saved_.clear();
    return refs_of(results);
  };
  custom.backward = [function](FunctionContext& context, std::span<const TensorRef> gradients) {
    function->unpack_ = [&context] { return wrap_all(context.saved_tensors()); };
    std::vector<TensorRef> found = refs_of(function->backward(wrap_all(gradients)));
    function->unpack_ = nullptr;
    return found;
  };
  return wrap_all(apply_function(custom, refs_of(inputs)));
}

}  // namespace lucid
