#pragma once

#include <optional>
#include <string>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
/// What modules compute, as functions, beside the ops of the table.
namespace lucid::nn::functional {

/// Each element zero with probability p while training, the others scaled up to keep the mean.
Tensor dropout(const Tensor& input, double p = 0.5, bool training = true);
/// The same for whole channels: everything after the first two dimensions (after the first, without a batch).
/// `spatial` is the number of dimensions of a channel.
Tensor channel_dropout(const char* name, const Tensor& input, double p, bool training, int64_t spatial);
/// Dropout that keeps mean and variance of inputs that are normal, for networks of selu.
Tensor alpha_dropout(const Tensor& input, double p = 0.5, bool training = false);
Tensor feature_alpha_dropout(const Tensor& input, double p = 0.5, bool training = false);

Tensor prelu(const Tensor& input, const Tensor& weight);
Tensor rrelu(const Tensor& input, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false);
Tensor glu(const Tensor& input, int64_t dim = -1);
/// x divided by its p-norm over a dimension, or by eps if that is larger.
Tensor normalize(const Tensor& input, double p = 2, int64_t dim = 1, double eps = 1e-12);
/// One-hot samples (or soft ones) of a categorical distribution with a gradient.
Tensor gumbel_softmax(const Tensor& logits, double tau = 1, bool hard = false, int64_t dim = -1);

/// The rows of weight at the indices. Row padding_idx gets no gradient; rows longer than max_norm are first scaled
/// down in place.
Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx = std::nullopt,
                 std::optional<double> max_norm = std::nullopt, double norm_type = 2);

}  // namespace lucid::nn::functional
#pragma GCC visibility pop
