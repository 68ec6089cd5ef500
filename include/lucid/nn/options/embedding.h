// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of Embedding.
struct EmbeddingOptions {
  /// Number of rows.
  int64_t num_embeddings = 0;
  /// Size of a row.
  int64_t embedding_dim = 0;
  /// A row that is zero at first and gets no gradient.
  std::optional<int64_t> padding_idx = std::nullopt;
  /// Rows with a larger norm are scaled down in place when they are used.
  std::optional<double> max_norm = std::nullopt;
  /// The p of that norm.
  double norm_type = 2.0;
  /// Whether to divide the gradient of a row by its number of occurrences.
  bool scale_grad_by_freq = false;
  /// Accepted for compatibility; gradients are always dense.
  bool sparse = false;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("num_embeddings", num_embeddings);
    visit("embedding_dim", embedding_dim);
    visit("padding_idx", padding_idx);
    visit("max_norm", max_norm);
    visit("norm_type", norm_type);
    visit("scale_grad_by_freq", scale_grad_by_freq);
    visit("sparse", sparse);
  }
};

/// Options of EmbeddingBag.
struct EmbeddingBagOptions {
  /// Number of rows.
  int64_t num_embeddings = 0;
  /// Size of a row.
  int64_t embedding_dim = 0;
  /// Rows with a larger norm are scaled down in place when they are used.
  std::optional<double> max_norm = std::nullopt;
  /// The p of that norm.
  double norm_type = 2.0;
  /// Whether to divide the gradient of a row by its number of occurrences.
  bool scale_grad_by_freq = false;
  /// 'mean', 'sum' or 'max'.
  std::string mode = "mean";
  /// Accepted for compatibility; gradients are always dense.
  bool sparse = false;
  /// Whether the last offset is the end of the last bag.
  bool include_last_offset = false;
  /// An index that is left out of the bags.
  std::optional<int64_t> padding_idx = std::nullopt;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("num_embeddings", num_embeddings);
    visit("embedding_dim", embedding_dim);
    visit("max_norm", max_norm);
    visit("norm_type", norm_type);
    visit("scale_grad_by_freq", scale_grad_by_freq);
    visit("mode", mode);
    visit("sparse", sparse);
    visit("include_last_offset", include_last_offset);
    visit("padding_idx", padding_idx);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
