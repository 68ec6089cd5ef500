#include <lucid/autograd.h>
#include <lucid/nn/functional.h>
#include <lucid/ops.h>

#include "base/error.h"
#include "nn/call_op.h"

namespace lucid::nn::functional {

Tensor dropout(const Tensor& input, double p, bool training) {
  if (!(p >= 0 && p <= 1)) throw ValueError("dropout: the probability must be between 0 and 1, got {}", p);
  if (!training || p == 0) return input;
  return draw_op("draw_dropout", {input}, {{"p", p}});
}

void shorten_rows(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type) {
  const NoGrad no_grad;
  const Tensor rows = reshape(indices, {-1});
  const Tensor picked = index_select(weight.detach(), 0, rows);
  const Tensor length = norm(picked, norm_type, Shape{1}, true);
  const Tensor scale = where(gt(length, max_norm), max_norm / (length + 1e-7), ones_like(length));
  weight.detach().set_index({rows}, picked * scale);
}

Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq) {
  if (max_norm) shorten_rows(weight, input, *max_norm, norm_type);
  const Tensor rows = lucid::embedding(weight, input, padding_idx);
  if (!scale_grad_by_freq || !rows.requires_grad()) return rows;
  const Tensor uses = index_select(bincount(reshape(input, {-1}), Argument(), weight.size(0)), 0, reshape(input, {-1}));
  Shape shape = input.shape();
  shape.push_back(1);
  // The difference is zero, and what is divided is its gradient.
  const Tensor values = rows.detach();
  return values + (rows - values) / reshape(uses, shape);
}

}  // namespace lucid::nn::functional
