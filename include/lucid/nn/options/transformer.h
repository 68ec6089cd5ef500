// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of TransformerEncoderLayer and TransformerDecoderLayer.
struct TransformerLayerOptions {
  /// Size of the input and output.
  int64_t d_model = 0;
  /// Number of attention heads.
  int64_t nhead = 1;
  /// Size of the hidden layer of the feedforward network.
  int64_t dim_feedforward = 2048;
  /// Probability of dropout.
  double dropout = 0.1;
  /// 'relu', 'gelu' or a function.
  Item activation = "relu";
  double layer_norm_eps = 1e-5;
  /// Whether the input has shape (batch, time, d_model) instead of (time, batch, d_model).
  bool batch_first = false;
  /// Whether to normalize before each part instead of after it.
  bool norm_first = false;
  /// Whether the projections have biases.
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("_d_model", d_model);
    visit("_nhead", nhead);
    visit("_dim_feedforward", dim_feedforward);
    visit("_dropout", dropout);
    visit("_activation", activation);
    visit("_layer_norm_eps", layer_norm_eps);
    visit("_batch_first", batch_first);
    visit("norm_first", norm_first);
    visit("_bias", bias);
  }
};

/// Options of TransformerEncoder and TransformerDecoder.
struct TransformerStackOptions {
  Ptr<Module> layer = nullptr;
  int64_t num_layers = 0;
  Ptr<Module> norm = nullptr;

  void fields(auto& visit) {
    visit("num_layers", num_layers);
  }
};

/// Options of Transformer.
struct TransformerOptions {
  /// Size of the input and output.
  int64_t d_model = 512;
  /// Number of attention heads.
  int64_t nhead = 8;
  int64_t num_encoder_layers = 6;
  int64_t num_decoder_layers = 6;
  /// Size of the hidden layer of the feedforward network.
  int64_t dim_feedforward = 2048;
  /// Probability of dropout on the attention weights.
  double dropout = 0.1;
  /// 'relu', 'gelu' or a function.
  Item activation = "relu";
  double layer_norm_eps = 1e-5;
  /// Whether the input has shape (batch, time, d_model) instead of (time, batch, d_model).
  bool batch_first = false;
  /// Whether to normalize before each part instead of after it.
  bool norm_first = false;
  /// Whether the projections have biases.
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("d_model", d_model);
    visit("nhead", nhead);
    visit("num_encoder_layers", num_encoder_layers);
    visit("num_decoder_layers", num_decoder_layers);
    visit("dim_feedforward", dim_feedforward);
    visit("dropout", dropout);
    visit("activation", activation);
    visit("layer_norm_eps", layer_norm_eps);
    visit("batch_first", batch_first);
    visit("norm_first", norm_first);
    visit("bias", bias);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
