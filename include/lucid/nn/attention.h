#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of MultiheadAttention.
struct AttentionOptions {
  int64_t embed_dim = 0;
  int64_t num_heads = 1;
  /// Probability of dropping an attention weight in training mode.
  double dropout = 0;
  bool bias = true;
  /// Appends a learned vector to the keys and one to the values.
  bool add_bias_kv = false;
  /// Appends a vector of zeros to the keys and to the values.
  bool add_zero_attn = false;
  /// Sizes of keys and values; embed_dim by default.
  std::optional<int64_t> kdim = std::nullopt;
  std::optional<int64_t> vdim = std::nullopt;
  /// Whether the batch comes first, before time.
  bool batch_first = false;
  std::optional<Dtype> dtype = std::nullopt;
};

/// Masks of a call to MultiheadAttention. Masks are bool or floating point; the latter are added to the scores.
struct AttentionMasks {
  /// (batch, keys): true, or -inf, for keys to ignore.
  Tensor key_padding_mask;
  /// (queries, keys) or (batch * heads, queries, keys): true for pairs to ignore, or numbers to add to the scores.
  Tensor attn_mask;
  /// A promise that attn_mask is causal. Requires attn_mask.
  bool is_causal = false;
};

/// Multi-head attention: averages of the values, weighted by the softmax of the scaled products of queries and keys.
class MultiheadAttention : public Layer<MultiheadAttention> {
 public:
  static constexpr const char* kName = "MultiheadAttention";
  using Options = AttentionOptions;
  MultiheadAttention() = default;
  explicit MultiheadAttention(const Options& options) : options(options) { build(options.dtype); }
  Options options;

  struct Result {
    Tensor output;
    /// The attention weights, averaged over the heads or not. Undefined unless need_weights is set.
    Tensor weights;
  };
  /// Attends from queries to keys and values, of shape (time, batch, size), (batch, time, size) with batch_first, or
  /// (time, size) without a batch.
  Result attend(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMasks& masks = {},
                bool need_weights = true, bool average_weights = true);

  /// Arguments: query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal.
  Item forward_with(const Arguments& arguments) override;
  bool returns_one_tensor() const override { return false; }
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 private:
  bool same_sizes() const;
  /// The input projection of part 0, 1 or 2: query, key or value.
  Tensor projected(int64_t part, const Tensor& input) const;
  Tensor split_heads(const Tensor& tensor) const;
  Tensor merged_mask(const AttentionMasks& masks, const Tensor& query, const Tensor& key, int64_t added) const;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
