#include <lucid/autograd.h>
#include <lucid/nn/functional.h>
#include <lucid/ops.h>

#include "base/dtype.h"
#include "base/error.h"
#include "nn/call_op.h"
#include "tensor/api.h"
#include "tensor/function.h"

namespace lucid::nn::functional {
namespace {

/// Scales down, in place, the indexed rows of weight whose norm exceeds max_norm.
void shorten_rows(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  const NoGrad no_grad;
  const Tensor rows = reshape(indices, {-1});
  const Tensor picked = index_select(weight.detach(), 0, rows);
  const Tensor length = norm(picked, norm_type, Shape{1}, true);
  const Tensor scale = where(gt(length, max_norm), max_norm / (length + 1e-7), ones_like(length));
  weight.detach().index_put_({rows}, picked * scale);
}

/// A function that returns its first operand and divides the gradient by the second.
CustomFunction division_of_gradients() {
  CustomFunction function;
  function.name = "divide_gradient";
  function.forward = [](FunctionContext& context, std::span<const TensorRef> inputs) {
    context.save_for_backward({inputs[1]});
    return std::vector<TensorRef>{inputs[0]};
  };
  function.backward = [](FunctionContext& context, std::span<const TensorRef> gradients) {
    return std::vector<TensorRef>{ref_of(wrap(gradients[0]) / wrap(context.saved_tensors()[0])), {}};
  };
  function.copy = [](NodeCloner&) { return division_of_gradients(); };
  return function;
}

/// The weight, with the gradient of each row divided by the number of times it is indexed.
Tensor with_gradients_by_use(const Tensor& weight, const Tensor& indices) {
  if (!weight.requires_grad()) return weight;
  const Tensor flat = reshape(indices, {-1});
  const DeviceScope device(unwrap(indices).device());
  const Tensor uses = index_add(zeros({weight.size(0)}, Dtype::kI64), 0, flat, ones({flat.size(0)}, Dtype::kI64));
  const TensorRef inputs[] = {ref_of(weight), ref_of(unsqueeze(maximum(uses, 1), 1))};
  return wrap(apply_function(division_of_gradients(), inputs).front());
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool training) {
  if (!(p >= 0 && p <= 1)) throw ValueError("dropout: the probability must be between 0 and 1, got {}", p);
  if (!training || p == 0) return input;
  return call_random_op("random_dropout", {input}, {{"p", p}});
}

Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq) {
  if (max_norm) shorten_rows(weight, input, *max_norm, norm_type);
  return lucid::embedding(scale_grad_by_freq ? with_gradients_by_use(weight, input) : weight, input, padding_idx);
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets, const Tensor& per_sample_weights,
                     const BagOptions& options) {
  if (options.max_norm) shorten_rows(weight, input, *options.max_norm, options.norm_type);
  if (options.scale_grad_by_freq && options.mode == "max")
    throw ValueError("embedding_bag: scale_grad_by_freq supports the modes 'sum' and 'mean', not 'max'");
  return lucid::embedding_bag(options.scale_grad_by_freq ? with_gradients_by_use(weight, input) : weight, input,
                              offsets, per_sample_weights, options.mode, options.include_last_offset,
                              options.padding_idx);
}

}  // namespace lucid::nn::functional
