#pragma once

#include "lucid/nn/options/embedding.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// A lookup table: maps integers below num_embeddings to learned rows.
class Embedding : public OptionsLayer<Embedding, EmbeddingOptions> {
 public:
  static constexpr const char* kName = "Embedding";
  static constexpr const char* kSignature =
      "(num_embeddings: int, embedding_dim: int, padding_idx: int? = None, max_norm: float? = None, "
      "norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, "
      "python _weight: tensor? = None, python _freeze: bool = False, dtype: dtype? = None)";
  Embedding() = default;
  explicit Embedding(Options given) : OptionsLayer(std::move(given)) { build(options.dtype); }
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Reduces the rows of each bag of integers.
class EmbeddingBag : public OptionsLayer<EmbeddingBag, EmbeddingBagOptions> {
 public:
  static constexpr const char* kName = "EmbeddingBag";
  static constexpr const char* kSignature =
      "(num_embeddings: int, embedding_dim: int, max_norm: float? = None, norm_type: float = 2.0, "
      "scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False, python _weight: tensor? = None, "
      "include_last_offset: bool = False, padding_idx: int? = None, dtype: dtype? = None)";
  EmbeddingBag() = default;
  explicit EmbeddingBag(Options given) : OptionsLayer(std::move(given)) { build(options.dtype); }
  /// `input` is 2-d with one bag per row, or 1-d with the start of each bag in `offsets`.
  Tensor forward(const Tensor& input) override { return forward(input, Tensor()); }
  Tensor forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights = Tensor());
  Tree forward_with(const Arguments& arguments) override;
  std::string extra_repr() const override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
