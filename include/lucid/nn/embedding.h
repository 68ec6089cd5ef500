#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of Embedding.
struct EmbeddingOptions {
  int64_t num_embeddings = 0;
  int64_t embedding_dim = 0;
  /// Index of a row that is initialized to zero and gets no gradient.
  std::optional<int64_t> padding_idx = std::nullopt;
  /// Rows whose norm is larger are scaled down, in place, when they are used.
  std::optional<double> max_norm = std::nullopt;
  /// The p of that norm.
  double norm_type = 2;
  /// Divides the gradient of each row by the number of its uses in the batch.
  bool scale_grad_by_freq = false;
  /// Has no effect: gradients are dense.
  bool sparse = false;
  std::optional<Dtype> dtype = std::nullopt;
};

/// A lookup table: maps integers below num_embeddings to learned rows.
class Embedding : public Layer<Embedding> {
 public:
  static constexpr const char* kName = "Embedding";
  using Options = EmbeddingOptions;
  Embedding() = default;
  explicit Embedding(const Options& given) : options(given) { build(options.dtype); }
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Options of EmbeddingBag; for those without a comment, see EmbeddingOptions.
struct EmbeddingBagOptions {
  int64_t num_embeddings = 0;
  int64_t embedding_dim = 0;
  std::optional<double> max_norm = std::nullopt;
  double norm_type = 2;
  bool scale_grad_by_freq = false;
  /// "sum", "mean" or "max".
  std::string mode = "mean";
  bool sparse = false;
  /// Whether the last offset is the end of the last bag.
  bool include_last_offset = false;
  std::optional<int64_t> padding_idx = std::nullopt;
  std::optional<Dtype> dtype = std::nullopt;
};

/// Reduces the rows of each bag of integers.
class EmbeddingBag : public Layer<EmbeddingBag> {
 public:
  static constexpr const char* kName = "EmbeddingBag";
  using Options = EmbeddingBagOptions;
  EmbeddingBag() = default;
  explicit EmbeddingBag(Options given) : options(std::move(given)) { build(options.dtype); }
  Options options;
  /// `input` is 2-d with one bag per row, or 1-d with the start of each bag in `offsets`.
  Tensor forward(const Tensor& input) override { return forward(input, Tensor()); }
  Tensor forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights = Tensor());
  Item forward_with(const Arguments& arguments) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
