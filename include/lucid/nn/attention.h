#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

struct AttentionOptions {
  double dropout = 0;
  bool bias = true;
  /// Learned vectors added to the keys and values.
  bool add_bias_kv = false;
  /// Zeros added to the keys and values.
  bool add_zero_attn = false;
  std::optional<int64_t> kdim = std::nullopt;
  std::optional<int64_t> vdim = std::nullopt;
  bool batch_first = false;
  std::optional<Dtype> dtype = std::nullopt;
};

/// What a call of MultiheadAttention takes besides query, key and value.
struct AttentionMasks {
  /// (batch, keys): true, or -inf, where a key is to be ignored.
  Tensor key_padding_mask;
  /// (queries, keys) or (batch * heads, queries, keys): true, or what is added.
  Tensor attn_mask;
  bool is_causal = false;
};

/// Weighted means of values, the weights being the softmax of scaled products of queries and keys, for several heads.
class MultiheadAttention : public Layer<MultiheadAttention> {
 public:
  static constexpr const char* kName = "MultiheadAttention";
  MultiheadAttention() = default;
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, const AttentionOptions& options = {});

  int64_t embed_dim = 0;
  int64_t num_heads = 1;
  double dropout = 0;
  bool batch_first = false;
  std::optional<int64_t> kdim;
  std::optional<int64_t> vdim;
  bool add_zero_attn = false;

  struct Result {
    Tensor output;
    /// The weights, averaged over the heads or not; none unless wanted.
    Tensor weights;
  };
  Result attend(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMasks& masks = {},
                bool need_weights = true, bool average_weights = true);

  /// query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal.
  Item forward_with(const Arguments& arguments) override;
  bool gives_one_tensor() const override { return false; }
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 private:
  bool same_sizes() const { return kdim.value_or(embed_dim) == embed_dim && vdim.value_or(embed_dim) == embed_dim; }
  /// Of part 0, 1 or 2: query, key or value.
  Tensor projected(int64_t part, const Tensor& input) const;
  Tensor split_heads(const Tensor& tensor) const;
  Tensor merged_mask(const AttentionMasks& masks, const Tensor& query, const Tensor& key, int64_t added) const;

  bool has_bias_ = true;
  bool add_bias_kv_ = false;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
