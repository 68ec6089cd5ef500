#pragma once

#include "lucid/nn/attention.h"
#include "lucid/nn/container.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of TransformerEncoderLayer and TransformerDecoderLayer.
struct TransformerLayerOptions {
  int64_t d_model = 0;
  int64_t nhead = 1;
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  /// "relu", "gelu", or a function of another language. A submodule named "activation" takes precedence.
  Item activation = "relu";
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  /// Whether each norm comes before its attention or feed-forward block, instead of after it.
  bool norm_first = false;
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;
};

/// Options of Transformer; for those without a comment, see TransformerLayerOptions.
struct TransformerOptions {
  int64_t d_model = 512;
  int64_t nhead = 8;
  int64_t num_encoder_layers = 6;
  int64_t num_decoder_layers = 6;
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  Item activation = "relu";
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;

  TransformerLayerOptions of_layer() const {
    return {d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, dtype};
  }
};

/// Base of the encoder and decoder layers.
class TransformerLayer : public Module {
 public:
  using Options = TransformerLayerOptions;
  Options options;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;

 protected:
  /// The number of norms and dropouts, and the names of the attentions.
  virtual int64_t parts() const = 0;
  virtual std::vector<std::string> attentions() const = 0;
  Tensor norm(int64_t index, const Tensor& x) const;
  Tensor attended(const char* name, int64_t index, const Tensor& x, const Tensor& memory, const Item& mask,
                  const Item& padding, const Item& is_causal) const;
  Tensor fed_forward(int64_t index, const Tensor& x) const;
};

/// Self-attention, followed by a two-layer feed-forward network.
class TransformerEncoderLayer : public Layer<TransformerEncoderLayer, TransformerLayer> {
 public:
  static constexpr const char* kName = "TransformerEncoderLayer";
  TransformerEncoderLayer() = default;
  explicit TransformerEncoderLayer(Options given) {
    options = std::move(given);
    build(options.dtype);
  }
  /// Arguments: src, src_mask, src_key_padding_mask, is_causal.
  Item forward_with(const Arguments& arguments) override;
  Tensor forward(const Tensor& src) override { return forward_with(Arguments({Item(src)})).to_tensor(); }

 protected:
  int64_t parts() const override { return 2; }
  std::vector<std::string> attentions() const override { return {"self_attn"}; }
};

/// Self-attention, attention to the encoder's output (memory), then a two-layer feed-forward network.
class TransformerDecoderLayer : public Layer<TransformerDecoderLayer, TransformerLayer> {
 public:
  static constexpr const char* kName = "TransformerDecoderLayer";
  TransformerDecoderLayer() = default;
  explicit TransformerDecoderLayer(Options given) {
    options = std::move(given);
    build(options.dtype);
  }
  /// Arguments: tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
  /// memory_is_causal.
  Item forward_with(const Arguments& arguments) override;

 protected:
  int64_t parts() const override { return 3; }
  std::vector<std::string> attentions() const override { return {"self_attn", "multihead_attn"}; }
};

/// Options of TransformerEncoder and TransformerDecoder.
struct TransformerStackOptions {
  Ptr<Module> layer = nullptr;
  int64_t num_layers = 0;
  Ptr<Module> norm = nullptr;
};

/// A stack of copies of a layer, with an optional final norm.
class TransformerEncoder : public Layer<TransformerEncoder> {
 public:
  static constexpr const char* kName = "TransformerEncoder";
  TransformerEncoder() = default;
  using Options = TransformerStackOptions;
  explicit TransformerEncoder(const Options& options);
  int64_t num_layers = 0;
  /// Arguments: src, mask, src_key_padding_mask, is_causal.
  Item forward_with(const Arguments& arguments) override;
  Tensor forward(const Tensor& src) override { return forward_with(Arguments({Item(src)})).to_tensor(); }
  void fields(Fields& visit) override;
};

/// A stack of copies of a decoder layer, with an optional final norm.
class TransformerDecoder : public Layer<TransformerDecoder> {
 public:
  static constexpr const char* kName = "TransformerDecoder";
  TransformerDecoder() = default;
  using Options = TransformerStackOptions;
  explicit TransformerDecoder(const Options& options);
  int64_t num_layers = 0;
  /// Arguments: as for TransformerDecoderLayer.
  Item forward_with(const Arguments& arguments) override;
  void fields(Fields& visit) override;
};

/// An encoder, and a decoder that attends to its output.
class Transformer : public Layer<Transformer> {
 public:
  static constexpr const char* kName = "Transformer";
  Transformer() = default;
  using Options = TransformerOptions;
  explicit Transformer(const Options& options);
  Options options;
  /// Arguments: src, tgt, src_mask, tgt_mask, memory_mask, src_key_padding_mask, tgt_key_padding_mask,
  /// memory_key_padding_mask, src_is_causal, tgt_is_causal, memory_is_causal.
  Item forward_with(const Arguments& arguments) override;
  void fields(Fields& visit) override;
  /// Samples all matrices again with xavier_uniform_().
  void reset_parameters() override;
};

/// A causal mask: -inf above the diagonal, 0 elsewhere.
Tensor square_subsequent_mask(int64_t size, std::optional<Dtype> dtype = std::nullopt);

}  // namespace lucid::nn
#pragma GCC visibility pop
