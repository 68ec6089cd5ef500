#pragma once

#include <optional>
#include <string>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
/// Functions behind modules that are not a single op of the op table.
namespace lucid::nn::functional {

/// If `training`, sets elements to zero with probability p and scales the others by 1 / (1 - p) to preserve the mean.
Tensor dropout(const Tensor& input, double p = 0.5, bool training = true);

/// The rows of weight at the indices. Row padding_idx gets no gradient. Rows whose norm exceeds max_norm are first
/// scaled down in place. With scale_grad_by_freq, the gradient of each row is divided by the number of its uses.
Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx = std::nullopt,
                 std::optional<double> max_norm = std::nullopt, double norm_type = 2, bool scale_grad_by_freq = false);

/// Options of embedding_bag().
struct BagOptions {
  std::string mode = "mean";
  std::optional<int64_t> padding_idx = std::nullopt;
  std::optional<double> max_norm = std::nullopt;
  double norm_type = 2;
  bool scale_grad_by_freq = false;
  bool include_last_offset = false;
};
/// The op of the same name, with the options of embedding(). `offsets` and `per_sample_weights` are optional.
Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets = Tensor(),
                     const Tensor& per_sample_weights = Tensor(), const BagOptions& options = {});

}  // namespace lucid::nn::functional
#pragma GCC visibility pop
