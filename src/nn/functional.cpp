#include <lucid/autograd.h>
#include <lucid/nn/functional.h>
#include <lucid/ops.h>

#include "base/dtype.h"
#include "base/error.h"
#include "nn/call_op.h"

namespace lucid::nn::functional {
namespace {

/// Scales down, in place, the rows of weight at the indices that are longer than max_norm.
void shorten_rows(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  const NoGrad no_grad;
  const Tensor rows = reshape(indices, {-1});
  const Tensor picked = index_select(weight.detach(), 0, rows);
  const Tensor length = norm(picked, norm_type, Shape{1}, true);
  const Tensor scale = where(gt(length, max_norm), max_norm / (length + 1e-7), ones_like(length));
  weight.detach().set_index({rows}, picked * scale);
}

/// Divides the gradient of each row by how often the indices name it. `rows` is a view of a weight, made for this.
void divide_gradients_by_uses(const Tensor& rows, const Tensor& indices) {
  if (!rows.requires_grad()) return;
  const Tensor flat = reshape(indices, {-1});
  const Tensor uses = index_add(zeros({rows.size(0)}, Dtype::kI64), 0, flat, ones({flat.size(0)}, Dtype::kI64));
  const Tensor divisors = unsqueeze(maximum(uses, 1), 1);
  register_hook(rows, [divisors](const Tensor& gradient) -> Tensor { return gradient / divisors; });
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool training) {
  if (!(p >= 0 && p <= 1)) throw ValueError("dropout: the probability must be between 0 and 1, got {}", p);
  if (!training || p == 0) return input;
  return draw_op("draw_dropout", {input}, {{"p", p}});
}

Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq) {
  if (max_norm) shorten_rows(weight, input, *max_norm, norm_type);
  if (!scale_grad_by_freq) return lucid::embedding(weight, input, padding_idx);
  const Tensor rows = reshape(weight, weight.shape());
  const Tensor result = lucid::embedding(rows, input, padding_idx);
  divide_gradients_by_uses(rows, input);
  return result;
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets, const Tensor& per_sample_weights,
                     const BagOptions& options) {
  if (options.max_norm) shorten_rows(weight, input, *options.max_norm, options.norm_type);
  const auto bags = [&](const Tensor& rows) {
    return lucid::embedding_bag(rows, input, offsets, per_sample_weights, options.mode, options.include_last_offset,
                                options.padding_idx);
  };
  if (!options.scale_grad_by_freq) return bags(weight);
  if (options.mode == "max")
    throw ValueError("embedding_bag: scale_grad_by_freq is for the modes sum and mean, not for max");
  const Tensor rows = reshape(weight, weight.shape());
  const Tensor result = bags(rows);
  divide_gradients_by_uses(rows, input);
  return result;
}

}  // namespace lucid::nn::functional
