#pragma once

#include <concepts>

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of convolutions. A single number applies to all dimensions.
struct ConvOptions {
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  Sizes kernel_size = {};
  Sizes stride = 1;
  /// Numbers, "same" or "valid".
  Setting padding = 0;
  Sizes dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  /// "zeros", "reflect", "replicate" or "circular".
  std::string padding_mode = "zeros";
  std::optional<Dtype> dtype = std::nullopt;
  /// Only for transposed convolutions; see ConvTransposeOptions.
  Sizes output_padding = 0;
};

/// Options of transposed convolutions. A single number applies to all dimensions.
struct ConvTransposeOptions {
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  Sizes kernel_size = {};
  Sizes stride = 1;
  Sizes padding = 0;
  /// Extra size on one side of the output.
  Sizes output_padding = 0;
  int64_t groups = 1;
  bool bias = true;
  Sizes dilation = 1;
  std::string padding_mode = "zeros";
  std::optional<Dtype> dtype = std::nullopt;

  operator ConvOptions() const {  // NOLINT
    return {in_channels, out_channels, kernel_size,  stride, Shape(padding), dilation,
            groups,      bias,         padding_mode, dtype,  output_padding};
  }
};

/// Base of all convolutions.
class ConvBase : public Module {
 public:
  ConvOptions options;
  const bool transposed;

  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
  Tensor forward(const Tensor& input) override;
  Item forward_with(const Arguments& arguments) override;

 protected:
  ConvBase(int64_t spatial, bool transposed) : transposed(transposed), spatial_(spatial) {}
  Tensor transposed_forward(const Tensor& input, const Item& output_size);

  const int64_t spatial_;
};

/// Defines the constructors.
template <typename Self, typename Options_, int64_t kSpatial>
class ConvLayer : public Layer<Self, ConvBase> {
 public:
  using Options = Options_;
  ConvLayer() : Layer<Self, ConvBase>(kSpatial, std::same_as<Options, ConvTransposeOptions>) {}
  explicit ConvLayer(Options options) : ConvLayer() {
    this->options = std::move(options);
    this->build(this->options.dtype);
  }
};

class Conv1d : public ConvLayer<Conv1d, ConvOptions, 1> {
 public:
  static constexpr const char* kName = "Conv1d";
  using ConvLayer::ConvLayer;
};
class Conv2d : public ConvLayer<Conv2d, ConvOptions, 2> {
 public:
  static constexpr const char* kName = "Conv2d";
  using ConvLayer::ConvLayer;
};
class Conv3d : public ConvLayer<Conv3d, ConvOptions, 3> {
 public:
  static constexpr const char* kName = "Conv3d";
  using ConvLayer::ConvLayer;
};
class ConvTranspose1d : public ConvLayer<ConvTranspose1d, ConvTransposeOptions, 1> {
 public:
  static constexpr const char* kName = "ConvTranspose1d";
  using ConvLayer::ConvLayer;
};
class ConvTranspose2d : public ConvLayer<ConvTranspose2d, ConvTransposeOptions, 2> {
 public:
  static constexpr const char* kName = "ConvTranspose2d";
  using ConvLayer::ConvLayer;
};
class ConvTranspose3d : public ConvLayer<ConvTranspose3d, ConvTransposeOptions, 3> {
 public:
  static constexpr const char* kName = "ConvTranspose3d";
  using ConvLayer::ConvLayer;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
