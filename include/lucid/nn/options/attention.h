// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of MultiheadAttention.
struct AttentionOptions {
  /// Size of the queries and of the output; a multiple of `num_heads`.
  int64_t embed_dim = 0;
  /// Number of heads.
  int64_t num_heads = 1;
  /// Probability of dropout on the attention weights.
  double dropout = 0.0;
  /// Whether the projections have biases.
  bool bias = true;
  /// Whether to append a learned key and value.
  bool add_bias_kv = false;
  /// Whether to append a key and value of zeros.
  bool add_zero_attn = false;
  /// Size of the keys; `embed_dim` by default.
  std::optional<int64_t> kdim = std::nullopt;
  /// Size of the values; `embed_dim` by default.
  std::optional<int64_t> vdim = std::nullopt;
  bool batch_first = false;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("embed_dim", embed_dim);
    visit("num_heads", num_heads);
    visit("dropout", dropout);
    visit("_bias", bias);
    visit("_add_bias_kv", add_bias_kv);
    visit("add_zero_attn", add_zero_attn);
    visit("kdim", kdim);
    visit("vdim", vdim);
    visit("batch_first", batch_first);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
