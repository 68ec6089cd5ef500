// The Python counterpart is python/lucid/nn/utils/clip_grad.py.

#include <lucid/autograd.h>
#include <lucid/nn/clip.h>
#include <lucid/ops.h>

#include <cmath>

namespace lucid::nn {
namespace {

std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters)
    if (const Tensor gradient = parameter.grad(); gradient.defined()) gradients.push_back(gradient);
  return gradients;
}

}  // namespace

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type) {
  const NoGrad no_grad;
  const std::vector<Tensor> gradients = gradients_of(parameters);
  if (gradients.empty()) return zeros({});
  std::vector<Tensor> norms;
  for (const Tensor& gradient : gradients) norms.push_back(norm(gradient, norm_type).to(gradients[0].device()));
  const Tensor each = stack(norms);
  const Tensor total = std::isinf(norm_type) ? each.max() : norm(each, norm_type);
  const Tensor scale = (max_norm / (total + 1e-6)).clamp(Argument(), 1.0);
  for (Tensor gradient : gradients) gradient.mul_(scale.to(gradient.device()).to(gradient.dtype()));
  return total;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  const NoGrad no_grad;
  for (Tensor gradient : gradients_of(parameters)) gradient.clamp_(-clip_value, clip_value);
}

}  // namespace lucid::nn
