#pragma once

// Well-known networks. Parameters have the names of the published weights, so that these weights can be loaded.

#include "lucid/nn.h"

#pragma GCC visibility push(default)
namespace lucid::models {

/// Linear layers of the given sizes with ReLU between them.
nn::Ptr<nn::Sequential> mlp(const Shape& sizes = {784, 256, 128, 10});

/// LeNet-5 for images of one channel and 32 by 32 pixels: tanh, average pooling, 61,706 parameters.
nn::Ptr<nn::Sequential> lenet_5(int64_t num_classes = 10);

/// Two or three convolutions whose result is added to their input.
class ResidualBlock : public nn::Layer<ResidualBlock> {
 public:
  static constexpr const char* kName = "ResidualBlock";
  ResidualBlock() = default;
  ResidualBlock(int64_t in_channels, int64_t channels, int64_t stride, bool bottleneck);
  int64_t in_channels = 0;
  int64_t channels = 0;
  int64_t stride = 1;
  bool bottleneck = false;
  Tensor forward(const Tensor& input) override;
  void fields(nn::Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
};

/// Four stages of residual blocks, for images of three channels.
class ResNet : public nn::Layer<ResNet> {
 public:
  static constexpr const char* kName = "ResNet";
  ResNet() = default;
  explicit ResNet(Shape layers, bool bottleneck = false, int64_t num_classes = 1000);
  Shape layers = {2, 2, 2, 2};
  bool bottleneck = false;
  int64_t num_classes = 1000;
  Tensor forward(const Tensor& input) override;
  void fields(nn::Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
};

nn::Ptr<ResNet> resnet_18(int64_t num_classes = 1000);
nn::Ptr<ResNet> resnet_34(int64_t num_classes = 1000);
nn::Ptr<ResNet> resnet_50(int64_t num_classes = 1000);

/// A pointwise convolution that expands the channels, a depthwise one, and a pointwise one that reduces them again.
class InvertedResidual : public nn::Layer<InvertedResidual> {
 public:
  static constexpr const char* kName = "InvertedResidual";
  InvertedResidual() = default;
  InvertedResidual(int64_t in_channels, int64_t out_channels, int64_t stride, int64_t expansion);
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t stride = 1;
  int64_t expansion = 1;
  Tensor forward(const Tensor& input) override;
  void fields(nn::Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
};

class MobileNetV2 : public nn::Layer<MobileNetV2> {
 public:
  static constexpr const char* kName = "MobileNetV2";
  MobileNetV2() = default;
  explicit MobileNetV2(int64_t num_classes, double dropout = 0.2);
  int64_t num_classes = 1000;
  double dropout = 0.2;
  Tensor forward(const Tensor& input) override;
  void fields(nn::Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
};

nn::Ptr<MobileNetV2> mobilenet_v2(int64_t num_classes = 1000);

struct GPTOptions {
  int64_t vocab_size = 65;
  int64_t context = 128;
  int64_t dim = 128;
  int64_t heads = 4;
  int64_t layers = 4;
  double dropout = 0;
};

/// Causal attention, then two linear layers, both with a residual connection.
class GPTBlock : public nn::Layer<GPTBlock> {
 public:
  static constexpr const char* kName = "GPTBlock";
  GPTBlock() = default;
  GPTBlock(int64_t dim, int64_t heads, double dropout);
  int64_t dim = 0;
  int64_t heads = 1;
  double dropout = 0;
  Tensor forward(const Tensor& input) override;
  void fields(nn::Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
};

/// A text decoder: maps tokens of shape (batch, time) to a score for each possible next token.
class GPT : public nn::Layer<GPT> {
 public:
  static constexpr const char* kName = "GPT";
  GPT() = default;
  explicit GPT(const GPTOptions& options);
  GPTOptions options;
  Tensor forward(const Tensor& input) override;
  void fields(nn::Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Decodes text with a GPT, one or several tokens at a time. It keeps the keys and values of earlier tokens in buffers,
/// which each call writes in place, so that a call computes nothing twice. Calls have the same shapes, so one plan
/// serves all of them, and the decoder can be exported.
class GPTDecoder : public nn::Layer<GPTDecoder> {
 public:
  static constexpr const char* kName = "GPTDecoder";
  GPTDecoder() = default;
  explicit GPTDecoder(const nn::Ptr<GPT>& model, int64_t batch_size = 1);
  int64_t batch_size = 1;
  /// Those of the model.
  int64_t layers = 0;
  int64_t heads = 1;
  int64_t context = 0;
  int64_t width = 0;  // of a head
  /// Takes the next tokens, of shape (batch_size, count), and returns a score for each possible token after the last
  /// one, of shape (batch_size, vocab_size). Tokens beyond the context raise IndexError.
  Tensor forward(const Tensor& tokens) override;
  /// Starts new texts.
  void reset();
  void fields(nn::Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
};

nn::Ptr<GPT> gpt(const GPTOptions& options = {});
/// GPT-2 with 124 million parameters, plus a separate output head.
nn::Ptr<GPT> gpt2_small();

struct BertOptions {
  int64_t vocab_size = 30522;
  int64_t context = 512;
  int64_t dim = 384;
  int64_t heads = 12;
  int64_t layers = 6;
  int64_t hidden = 1536;
  int64_t types = 2;
  double dropout = 0.1;
  double eps = 1e-12;
  /// Whether a layer computes one vector for the whole text from its first token.
  bool pooler = true;
};

/// A text encoder: forward_with({tokens, attention_mask, token_types}) returns a vector for each token and, with a
/// pooler, one for each text.
class Bert : public nn::Layer<Bert> {
 public:
  static constexpr const char* kName = "Bert";
  Bert() = default;
  explicit Bert(const BertOptions& options);
  BertOptions options;
  /// The vectors of the tokens. `attention_mask` is 0 for tokens to ignore.
  Tensor encode(const Tensor& tokens, const Tensor& attention_mask = Tensor(), const Tensor& token_types = Tensor());
  Tree forward_with(const nn::Arguments& arguments) override;
  bool returns_one_tensor() const override { return false; }
  void fields(nn::Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 private:
  Tensor encode_layer(nn::Module& layer, const Tensor& x, const Tensor& mask);
};

/// By default the sizes of MiniLM-L6, whose weights map sentences to vectors.
nn::Ptr<Bert> bert(const BertOptions& options = {});

struct VitOptions {
  int64_t image_size = 224;
  int64_t patch_size = 16;
  int64_t dim = 768;
  int64_t heads = 12;
  int64_t layers = 12;
  int64_t hidden = 3072;
  int64_t num_classes = 1000;
  double dropout = 0;
};

/// A transformer over the patches of an image.
class VisionTransformer : public nn::Layer<VisionTransformer> {
 public:
  static constexpr const char* kName = "VisionTransformer";
  VisionTransformer() = default;
  explicit VisionTransformer(const VitOptions& options);
  VitOptions options;
  Tensor forward(const Tensor& input) override;
  void fields(nn::Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

nn::Ptr<VisionTransformer> vit(const VitOptions& options = {});

/// The classes above, for the Python bindings.
const std::vector<nn::LayerType>& layer_types();

}  // namespace lucid::models
#pragma GCC visibility pop
