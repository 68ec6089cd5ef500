#include <lucid/autograd.h>
#include <lucid/nn/functional.h>
#include <lucid/ops.h>
#include <lucid/random.h>

#include <cmath>

#include "base/error.h"
#include "tensor/api.h"

namespace lucid::nn::functional {
namespace {

void check_probability(const char* name, double p) {
  if (!(p >= 0 && p <= 1)) throw ValueError("{}: the probability must be between 0 and 1, got {}", name, p);
}

/// Ones with probability 1 - p, zeros otherwise.
Tensor keep_mask(const Shape& shape, double p, Dtype dtype) { return bernoulli(full(shape, 1 - p, dtype)); }

/// What alpha dropout does: dropped elements become the value that selu saturates at, and the result is moved and
/// scaled back.
Tensor alpha_dropped(const Tensor& input, double p, const Shape& mask_shape) {
  constexpr double kSaturated = -1.7580993408473766;
  const double scale = 1 / std::sqrt((1 - p) * (1 + p * kSaturated * kSaturated));
  const Tensor keep = keep_mask(mask_shape, p, input.dtype());
  const Tensor offset = (1.0 - keep) * (kSaturated * scale) - kSaturated * scale * p;
  return input * (keep * scale) + offset;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool training) {
  check_probability("dropout", p);
  if (!training || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input * zeros_like(input);
  return input * (keep_mask(input.shape(), p, input.dtype()) * (1 / (1 - p)));
}

Tensor channel_dropout(const char* name, const Tensor& input, double p, bool training, int64_t spatial) {
  check_probability(name, p);
  const Shape shape = input.shape();
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank != spatial + 1 && rank != spatial + 2)
    throw ValueError("{}: expected {} or {} dimensions, got {}", name, spatial + 1, spatial + 2,
                     to_string(unwrap(input).type()));
  if (!training || p == 0) return input;
  Shape mask = shape;
  for (int64_t d = rank - spatial; d < rank; ++d) mask[static_cast<size_t>(d)] = 1;
  if (p == 1) return input * zeros_like(input);
  return input * (keep_mask(mask, p, input.dtype()) * (1 / (1 - p)));
}

Tensor alpha_dropout(const Tensor& input, double p, bool training) {
  check_probability("alpha_dropout", p);
  if (!training || p == 0) return input;
  if (p == 1) return input * zeros_like(input);
  return alpha_dropped(input, p, input.shape());
}

Tensor feature_alpha_dropout(const Tensor& input, double p, bool training) {
  check_probability("feature_alpha_dropout", p);
  if (input.dim() < 2)
    throw ValueError("feature_alpha_dropout: expected at least 2 dimensions, got {}",
                     to_string(unwrap(input).type()));
  if (!training || p == 0) return input;
  if (p == 1) return input * zeros_like(input);
  Shape mask = input.shape();
  for (size_t d = 2; d < mask.size(); ++d) mask[d] = 1;
  return alpha_dropped(input, p, mask);
}

Tensor prelu(const Tensor& input, const Tensor& weight) {
  Tensor slope = weight;
  if (weight.numel() > 1 && input.dim() > 1) {
    if (input.size(1) != weight.numel())
      throw ValueError("prelu: {} slopes do not fit {} channels", weight.numel(), input.size(1));
    Shape shape(static_cast<size_t>(input.dim()), 1);
    shape[1] = weight.numel();
    slope = reshape(weight, shape);
  }
  return where(gt(input, 0), input, input * slope);
}

Tensor rrelu(const Tensor& input, double lower, double upper, bool training) {
  if (!training) return leaky_relu(input, (lower + upper) / 2);
  const Tensor slope = rand(input.shape(), input.dtype()) * (upper - lower) + lower;
  return where(gt(input, 0), input, input * slope);
}

Tensor glu(const Tensor& input, int64_t dim) {
  if (input.dim() == 0 || input.size(dim) % 2 != 0)
    throw ValueError("glu: dimension {} of {} cannot be halved", dim, to_string(unwrap(input).type()));
  const std::vector<Tensor> halves = chunk(input, 2, dim);
  return halves[0] * sigmoid(halves[1]);
}

Tensor normalize(const Tensor& input, double p, int64_t dim, double eps) {
  const Tensor length = norm(input, p, Shape{dim}, true);
  return input / clamp(length, eps);
}

Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, int64_t dim) {
  const Tensor uniform = 1.0 - rand(logits.shape(), logits.dtype());
  const Tensor noise = neg(log(neg(log(uniform))));
  const Tensor soft = softmax((logits + noise) / tau, dim);
  if (!hard) return soft;
  const Tensor index = argmax(soft, dim, true);
  const Tensor picked = scatter(zeros_like(logits.detach()), dim, index, 1.0);
  return picked - soft.detach() + soft;
}

Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 std::optional<double> max_norm, double norm_type) {
  if (max_norm) {
    const NoGrad no_grad;
    const Tensor rows = reshape(input, {-1});
    const Tensor picked = index_select(weight.detach(), 0, rows);
    const Tensor length = norm(picked, norm_type, Shape{1}, true);
    const Tensor scale = where(gt(length, *max_norm), *max_norm / (length + 1e-7), ones_like(length));
    weight.detach().set_index({rows}, picked * scale);
  }
  if (!padding_idx || !weight.requires_grad() || !grad_enabled()) return lucid::embedding(weight, input);
  const int64_t row = *padding_idx < 0 ? *padding_idx + weight.size(0) : *padding_idx;
  const Tensor rows = lucid::embedding(weight, input);
  // The row's gradient is dropped; its value stays.
  return where(unsqueeze(eq(input, row), -1), rows.detach(), rows);
}

}  // namespace lucid::nn::functional
