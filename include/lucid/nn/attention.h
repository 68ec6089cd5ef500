#pragma once

#include "lucid/nn/options/attention.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

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
class MultiheadAttention : public OptionsLayer<MultiheadAttention, AttentionOptions> {
 public:
  static constexpr const char* kName = "MultiheadAttention";
  static constexpr const char* kSignature =
      "(embed_dim: int, num_heads: int! = 1, dropout: float = 0.0, _bias: bool = True, _add_bias_kv: bool = False, "
      "add_zero_attn: bool = False, kdim: int? = None, vdim: int? = None, batch_first: bool = False, "
      "dtype: dtype? = None)";
  MultiheadAttention() = default;
  explicit MultiheadAttention(Options given) : OptionsLayer(given) { build(options.dtype); }

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
  Tree forward_with(const Arguments& arguments) override;
  bool returns_one_tensor() const override { return false; }
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
