// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of Linear.
struct LinearOptions {
  /// Size of the last dimension of the input.
  int64_t in_features = 0;
  /// Size of the last dimension of the output.
  int64_t out_features = 0;
  /// Whether to add a bias.
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("in_features", in_features);
    visit("out_features", out_features);
    visit("_bias", bias);
  }
};

/// Options of LazyLinear.
struct LazyLinearOptions {
  /// Size of the last dimension of the output.
  int64_t out_features = 0;
  /// Whether to add a bias.
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("out_features", out_features);
    visit("_bias", bias);
  }
};

/// Options of Bilinear.
struct BilinearOptions {
  /// Size of the last dimension of the first input.
  int64_t in1_features = 0;
  /// Size of the last dimension of the second input.
  int64_t in2_features = 0;
  /// Size of the last dimension of the output.
  int64_t out_features = 0;
  /// Whether to add a bias.
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("in1_features", in1_features);
    visit("in2_features", in2_features);
    visit("out_features", out_features);
    visit("_bias", bias);
  }
};

/// Options of Flatten.
struct FlattenOptions {
  int64_t start_dim = 1;
  int64_t end_dim = -1;

  void fields(auto& visit) {
    visit("start_dim", start_dim);
    visit("end_dim", end_dim);
  }
};

/// Options of Unflatten.
struct UnflattenOptions {
  int64_t dim = 0;
  Sizes unflattened_size = {};

  void fields(auto& visit) {
    visit("dim", dim);
    visit("unflattened_size", unflattened_size);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
