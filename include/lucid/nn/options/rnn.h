// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of RNN.
struct RNNOptions {
  /// Size of an input vector.
  int64_t input_size = 0;
  /// Size of the hidden state.
  int64_t hidden_size = 0;
  /// Number of stacked layers.
  int64_t num_layers = 1;
  /// 'tanh' or 'relu'.
  std::string nonlinearity = "tanh";
  /// Whether to add biases.
  bool bias = true;
  /// Whether inputs and outputs have shape (batch, time, size). States do not change shape.
  bool batch_first = false;
  /// Probability of dropout on the outputs of every layer but the last.
  double dropout = 0.0;
  /// Whether to run in both directions. Outputs are concatenated; states have 2 * num_layers rows.
  bool bidirectional = false;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("input_size", input_size);
    visit("hidden_size", hidden_size);
    visit("num_layers", num_layers);
    visit("nonlinearity", nonlinearity);
    visit("bias", bias);
    visit("batch_first", batch_first);
    visit("dropout", dropout);
    visit("bidirectional", bidirectional);
  }
};

/// Options of LSTM and GRU.
struct RecurrentOptions {
  /// Size of an input vector.
  int64_t input_size = 0;
  /// Size of the hidden state.
  int64_t hidden_size = 0;
  /// Number of stacked layers.
  int64_t num_layers = 1;
  /// Whether to add biases.
  bool bias = true;
  /// Whether inputs and outputs have shape (batch, time, size). States do not change shape.
  bool batch_first = false;
  /// Probability of dropout on the outputs of every layer but the last.
  double dropout = 0.0;
  /// Whether to run in both directions. Outputs are concatenated; states have 2 * num_layers rows.
  bool bidirectional = false;
  /// If not 0, hidden states are projected to this size.
  int64_t proj_size = 0;
  std::optional<Dtype> dtype = std::nullopt;
  /// 'tanh' or 'relu'.
  std::string nonlinearity = "tanh";

  void fields(auto& visit) {
    visit("input_size", input_size);
    visit("hidden_size", hidden_size);
    visit("num_layers", num_layers);
    visit("bias", bias);
    visit("batch_first", batch_first);
    visit("dropout", dropout);
    visit("bidirectional", bidirectional);
    visit("proj_size", proj_size);
    visit("nonlinearity", nonlinearity);
  }
};

/// Options of RNNCell, LSTMCell and GRUCell.
struct RecurrentCellOptions {
  /// Size of an input vector.
  int64_t input_size = 0;
  /// Size of the hidden state.
  int64_t hidden_size = 0;
  /// Whether to add biases.
  bool bias = true;
  /// 'tanh' or 'relu'.
  std::string nonlinearity = "tanh";
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("input_size", input_size);
    visit("hidden_size", hidden_size);
    visit("bias", bias);
    visit("nonlinearity", nonlinearity);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
