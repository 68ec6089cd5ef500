#pragma once

#include <concepts>

#include "lucid/nn/options/conv.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

inline ConvOptions conv_options(ConvOptions given) { return given; }
inline ConvOptions conv_options(const ConvTransposeOptions& given) {
  return {.in_channels = given.in_channels,
          .out_channels = given.out_channels,
          .kernel_size = given.kernel_size,
          .stride = given.stride,
          .padding = Shape(given.padding),
          .dilation = given.dilation,
          .groups = given.groups,
          .bias = given.bias,
          .padding_mode = given.padding_mode,
          .dtype = given.dtype,
          .output_padding = given.output_padding};
}

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
  Tree forward_with(const Arguments& arguments) override;

 protected:
  ConvBase(int64_t spatial, bool transposed) : transposed(transposed), spatial_(spatial) {}
  Tensor transposed_forward(const Tensor& input, const Tree& output_size);

  const int64_t spatial_;
};

/// Defines the constructors.
template <typename Self, typename Options_, int64_t kSpatial>
class ConvLayer : public Layer<Self, ConvBase> {
 public:
  using Options = Options_;
  ConvLayer() : Layer<Self, ConvBase>(kSpatial, std::same_as<Options, ConvTransposeOptions>) {}
  explicit ConvLayer(Options given) : ConvLayer() {
    this->options = conv_options(std::move(given));
    this->build(this->options.dtype);
  }
};

class Conv1d : public ConvLayer<Conv1d, ConvOptions, 1> {
 public:
  static constexpr const char* kName = "Conv1d";
  static constexpr const char* kSignature =
      "(in_channels: int, out_channels: int, kernel_size: ints, stride: ints = 1, padding: sizes_or_str = 0, "
      "dilation: ints = 1, groups: int = 1, _bias: bool = True, padding_mode: str = 'zeros', dtype: dtype? = None, "
      "cpp output_padding: ints = 0)";
  using ConvLayer::ConvLayer;
};
class Conv2d : public ConvLayer<Conv2d, ConvOptions, 2> {
 public:
  static constexpr const char* kName = "Conv2d";
  static constexpr const char* kSignature = Conv1d::kSignature;
  using ConvLayer::ConvLayer;
};
class Conv3d : public ConvLayer<Conv3d, ConvOptions, 3> {
 public:
  static constexpr const char* kName = "Conv3d";
  static constexpr const char* kSignature = Conv1d::kSignature;
  using ConvLayer::ConvLayer;
};
class ConvTranspose1d : public ConvLayer<ConvTranspose1d, ConvTransposeOptions, 1> {
 public:
  static constexpr const char* kName = "ConvTranspose1d";
  static constexpr const char* kSignature =
      "(in_channels: int, out_channels: int, kernel_size: ints, stride: ints = 1, padding: ints = 0, "
      "output_padding: ints = 0, groups: int = 1, _bias: bool = True, dilation: ints = 1, "
      "padding_mode: str = 'zeros', dtype: dtype? = None)";
  using ConvLayer::ConvLayer;
};
class ConvTranspose2d : public ConvLayer<ConvTranspose2d, ConvTransposeOptions, 2> {
 public:
  static constexpr const char* kName = "ConvTranspose2d";
  static constexpr const char* kSignature = ConvTranspose1d::kSignature;
  using ConvLayer::ConvLayer;
};
class ConvTranspose3d : public ConvLayer<ConvTranspose3d, ConvTransposeOptions, 3> {
 public:
  static constexpr const char* kName = "ConvTranspose3d";
  static constexpr const char* kSignature = ConvTranspose1d::kSignature;
  using ConvLayer::ConvLayer;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
