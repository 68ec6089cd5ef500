#pragma once

#include <optional>
#include <string>

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

struct BagOptions {
  std::string mode = "mean";
  std::optional<int64_t> padding_idx = std::nullopt;
  std::optional<double> max_norm = std::nullopt;
  double norm_type = 2;
  bool scale_grad_by_freq = false;
  bool include_last_offset = false;
};
/// The op of this name, with what embedding() adds to its own. Offsets and weights of samples may be missing.
Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets = Tensor(),
                     const Tensor& per_sample_weights = Tensor(), const BagOptions& options = {});

}  // namespace lucid::nn::functional
#pragma GCC visibility pop
