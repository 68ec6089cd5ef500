#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of convolutions. A single number applies to all dimensions.
struct ConvOptions {
  Shape stride = {1};
  /// Numbers, "same" or "valid".
  Item padding = Item(0);
  Shape dilation = {1};
  int64_t groups = 1;
  bool bias = true;
  /// "zeros", "reflect", "replicate" or "circular".
  std::string padding_mode = "zeros";
  /// For transposed convolutions: extra size on one side of the output.
  Shape output_padding = {0};
  std::optional<Dtype> dtype = std::nullopt;
};

/// Base of all convolutions.
class ConvBase : public Module {
 public:
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  Shape kernel_size;
  Shape stride = {1};
  Item padding = Item(0);
  Shape dilation = {1};
  int64_t groups = 1;
  std::string padding_mode = "zeros";
  bool transposed = false;
  Shape output_padding = {0};

  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
  Tensor forward(const Tensor& input) override;
  Item forward_with(const Arguments& arguments) override;

 protected:
  ConvBase(int64_t spatial, bool transposed) : transposed(transposed), spatial_(spatial) {}
  void configure(int64_t in, int64_t out, Shape kernel, const ConvOptions& options);
  Tensor transposed_forward(const Tensor& input, const Item& output_size);

  int64_t spatial_;
  bool has_bias_ = true;
};

/// Defines the constructors: `Conv2d(3, 16, {5}, {.padding = 2})`.
template <typename Self, int64_t kSpatial, bool kTransposed>
class ConvLayer : public Layer<Self, ConvBase> {
 public:
  ConvLayer() : Layer<Self, ConvBase>(kSpatial, kTransposed) {}
  ConvLayer(int64_t in_channels, int64_t out_channels, Shape kernel_size, const ConvOptions& options = {})
      : ConvLayer() {
    this->configure(in_channels, out_channels, std::move(kernel_size), options);
  }
};

class Conv1d : public ConvLayer<Conv1d, 1, false> {
 public:
  static constexpr const char* kName = "Conv1d";
  using ConvLayer::ConvLayer;
};
class Conv2d : public ConvLayer<Conv2d, 2, false> {
 public:
  static constexpr const char* kName = "Conv2d";
  using ConvLayer::ConvLayer;
};
class Conv3d : public ConvLayer<Conv3d, 3, false> {
 public:
  static constexpr const char* kName = "Conv3d";
  using ConvLayer::ConvLayer;
};
class ConvTranspose1d : public ConvLayer<ConvTranspose1d, 1, true> {
 public:
  static constexpr const char* kName = "ConvTranspose1d";
  using ConvLayer::ConvLayer;
};
class ConvTranspose2d : public ConvLayer<ConvTranspose2d, 2, true> {
 public:
  static constexpr const char* kName = "ConvTranspose2d";
  using ConvLayer::ConvLayer;
};
class ConvTranspose3d : public ConvLayer<ConvTranspose3d, 3, true> {
 public:
  static constexpr const char* kName = "ConvTranspose3d";
  using ConvLayer::ConvLayer;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
