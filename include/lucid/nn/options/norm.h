// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of LayerNorm.
struct LayerNormOptions {
  /// Sizes of the dimensions to normalize over.
  Sizes normalized_shape = {};
  /// Added to the variance for numerical stability.
  double eps = 1e-5;
  /// Whether to learn a weight and a bias of shape `normalized_shape`.
  bool elementwise_affine = true;
  /// Whether to learn a bias, if `elementwise_affine`.
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("normalized_shape", normalized_shape);
    visit("eps", eps);
    visit("elementwise_affine", elementwise_affine);
    visit("_bias", bias);
  }
};

/// Options of RMSNorm.
struct RMSNormOptions {
  /// Sizes of the dimensions to normalize over.
  Sizes normalized_shape = {};
  /// Added to the mean square for numerical stability; by default the epsilon of the dtype.
  std::optional<double> eps = std::nullopt;
  /// Whether to learn a weight of shape `normalized_shape`.
  bool elementwise_affine = true;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("normalized_shape", normalized_shape);
    visit("eps", eps);
    visit("elementwise_affine", elementwise_affine);
  }
};

/// Options of GroupNorm.
struct GroupNormOptions {
  /// Number of groups; divides `num_channels`.
  int64_t num_groups = 1;
  /// Number of channels of the input, of shape (N, C, ...).
  int64_t num_channels = 0;
  /// Added to the variance for numerical stability.
  double eps = 1e-5;
  /// Whether to learn a weight and a bias per channel.
  bool affine = true;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("num_groups", num_groups);
    visit("num_channels", num_channels);
    visit("eps", eps);
    visit("affine", affine);
  }
};

/// Options of LocalResponseNorm.
struct LocalResponseNormOptions {
  int64_t size = 1;
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1.0;

  void fields(auto& visit) {
    visit("size", size);
    visit("alpha", alpha);
    visit("beta", beta);
    visit("k", k);
  }
};

/// Options of BatchNorm1d, BatchNorm2d and BatchNorm3d.
struct BatchNormOptions {
  /// Number of channels C.
  int64_t num_features = 0;
  /// Added to the variance for numerical stability.
  double eps = 1e-5;
  /// Weight of a new batch in the running statistics. None averages over all batches.
  std::optional<double> momentum = 0.1;
  /// Whether to learn a weight and a bias per channel.
  bool affine = true;
  /// Whether to keep running statistics. Without them, evaluation uses the batch too.
  bool track_running_stats = true;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("num_features", num_features);
    visit("eps", eps);
    visit("momentum", momentum);
    visit("affine", affine);
    visit("track_running_stats", track_running_stats);
  }
};

/// Options of InstanceNorm1d, InstanceNorm2d and InstanceNorm3d.
struct InstanceNormOptions {
  /// Number of channels C.
  int64_t num_features = 0;
  /// Added to the variance for numerical stability.
  double eps = 1e-5;
  /// Weight of a new batch in the running statistics. None averages over all batches.
  std::optional<double> momentum = 0.1;
  /// Whether to learn a weight and a bias per channel.
  bool affine = false;
  /// Whether to keep running statistics. Without them, evaluation uses the batch too.
  bool track_running_stats = false;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("num_features", num_features);
    visit("eps", eps);
    visit("momentum", momentum);
    visit("affine", affine);
    visit("track_running_stats", track_running_stats);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
