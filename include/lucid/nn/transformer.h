#pragma once

#include "lucid/nn/attention.h"
#include "lucid/nn/container.h"
#include "lucid/nn/options/transformer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

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
  Tensor attended(const char* name, int64_t index, const Tensor& x, const Tensor& memory, const Tree& mask,
                  const Tree& padding, const Tree& is_causal) const;
  Tensor fed_forward(int64_t index, const Tensor& x) const;
};

/// Self-attention, followed by a two-layer feed-forward network.
class TransformerEncoderLayer : public Layer<TransformerEncoderLayer, TransformerLayer> {
 public:
  static constexpr const char* kName = "TransformerEncoderLayer";
  static constexpr const char* kSignature =
      "(_d_model: int, _nhead: int! = 1, _dim_feedforward: int = 2048, _dropout: float = 0.1, "
      "_activation: item = 'relu', _layer_norm_eps: float = 1e-5, _batch_first: bool = False, "
      "norm_first: bool = False, _bias: bool = True, dtype: dtype? = None)";
  TransformerEncoderLayer() = default;
  explicit TransformerEncoderLayer(Options given) {
    options = std::move(given);
    build(options.dtype);
  }
  /// Arguments: src, src_mask, src_key_padding_mask, is_causal.
  Tree forward_with(const Arguments& arguments) override;
  Tensor forward(const Tensor& src) override { return forward_with(Arguments({Tree(src)})).as_tensor(); }

 protected:
  int64_t parts() const override { return 2; }
  std::vector<std::string> attentions() const override { return {"self_attn"}; }
};

/// Self-attention, attention to the encoder's output (memory), then a two-layer feed-forward network.
class TransformerDecoderLayer : public Layer<TransformerDecoderLayer, TransformerLayer> {
 public:
  static constexpr const char* kName = "TransformerDecoderLayer";
  static constexpr const char* kSignature = TransformerEncoderLayer::kSignature;
  TransformerDecoderLayer() = default;
  explicit TransformerDecoderLayer(Options given) {
    options = std::move(given);
    build(options.dtype);
  }
  /// Arguments: tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
  /// memory_is_causal.
  Tree forward_with(const Arguments& arguments) override;

 protected:
  int64_t parts() const override { return 3; }
  std::vector<std::string> attentions() const override { return {"self_attn", "multihead_attn"}; }
};

/// A stack of copies of a layer, with an optional final norm.
class TransformerEncoder : public Layer<TransformerEncoder> {
 public:
  static constexpr const char* kName = "TransformerEncoder";
  static constexpr const char* kSignature =
      "(cpp layer: module? = None, python encoder_layer: module, num_layers: int, norm: module? = None, "
      "python enable_nested_tensor: bool = True, python mask_check: bool = True)";
  TransformerEncoder() = default;
  using Options = TransformerStackOptions;
  explicit TransformerEncoder(const Options& options);
  int64_t num_layers = 0;
  /// Arguments: src, mask, src_key_padding_mask, is_causal.
  Tree forward_with(const Arguments& arguments) override;
  Tensor forward(const Tensor& src) override { return forward_with(Arguments({Tree(src)})).as_tensor(); }
  void fields(Fields& visit) override;
};

/// A stack of copies of a decoder layer, with an optional final norm.
class TransformerDecoder : public Layer<TransformerDecoder> {
 public:
  static constexpr const char* kName = "TransformerDecoder";
  static constexpr const char* kSignature =
      "(cpp layer: module? = None, python decoder_layer: module, num_layers: int, norm: module? = None)";
  TransformerDecoder() = default;
  using Options = TransformerStackOptions;
  explicit TransformerDecoder(const Options& options);
  int64_t num_layers = 0;
  /// Arguments: as for TransformerDecoderLayer.
  Tree forward_with(const Arguments& arguments) override;
  void fields(Fields& visit) override;
};

/// An encoder, and a decoder that attends to its output.
class Transformer : public Layer<Transformer> {
 public:
  static constexpr const char* kName = "Transformer";
  static constexpr const char* kSignature =
      "(d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6, "
      "dim_feedforward: int = 2048, dropout: float = 0.1, activation: item = 'relu', "
      "python custom_encoder: module? = None, python custom_decoder: module? = None, layer_norm_eps: float = 1e-5, "
      "batch_first: bool = False, norm_first: bool = False, bias: bool = True, dtype: dtype? = None)";
  Transformer() = default;
  using Options = TransformerOptions;
  explicit Transformer(const Options& options);
  Options options;
  /// Arguments: src, tgt, src_mask, tgt_mask, memory_mask, src_key_padding_mask, tgt_key_padding_mask,
  /// memory_key_padding_mask, src_is_causal, tgt_is_causal, memory_is_causal.
  Tree forward_with(const Arguments& arguments) override;
  void fields(Fields& visit) override;
  /// Samples all matrices again with xavier_uniform_().
  void reset_parameters() override;
};

/// A causal mask: -inf above the diagonal, 0 elsewhere.
Tensor square_subsequent_mask(int64_t size, std::optional<Dtype> dtype = std::nullopt);

}  // namespace lucid::nn
#pragma GCC visibility pop
