#pragma once

#include <optional>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
/// What modules compute that no single op of the table says.
namespace lucid::nn::functional {

/// Each element zero with probability p while training, the others scaled up to keep the mean.
Tensor dropout(const Tensor& input, double p = 0.5, bool training = true);

/// The rows of weight at the indices. Row padding_idx gets no gradient; rows longer than max_norm are first scaled
/// down in place; with scale_grad_by_freq gradients are divided by how often the row was used.
Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx = std::nullopt,
                 std::optional<double> max_norm = std::nullopt, double norm_type = 2, bool scale_grad_by_freq = false);
/// Scales down, in place, the rows of weight at the indices that are longer than max_norm.
void shorten_rows(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type = 2);

}  // namespace lucid::nn::functional
#pragma GCC visibility pop
