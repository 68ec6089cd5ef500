#pragma once

#include "lucid/nn/options/linear.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// x @ weight.T + bias.
class Linear : public OptionsLayer<Linear, LinearOptions> {
 public:
  static constexpr const char* kName = "Linear";
  static constexpr const char* kSignature =
      "(in_features: int, out_features: int, _bias: bool = True, dtype: dtype? = None)";
  Linear() = default;
  explicit Linear(Options given) : OptionsLayer(given) { build(options.dtype); }

  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void build(std::optional<Dtype> dtype) override;
  /// Samples weight and bias uniformly from +-1 / sqrt(in_features).
  void reset_parameters() override;
};

/// A Linear whose in_features is determined by the first input.
class LazyLinear : public Layer<LazyLinear, Linear> {
 public:
  static constexpr const char* kName = "LazyLinear";
  static constexpr const char* kSignature = "(out_features: int, _bias: bool = True, dtype: dtype? = None)";
  using Options = LazyLinearOptions;
  LazyLinear() = default;
  explicit LazyLinear(const Options& given) {
    options.out_features = given.out_features;
    options.bias = given.bias;
    options.dtype = given.dtype;
    build(options.dtype);
  }

  Tensor forward(const Tensor& input) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 private:
  /// Allocates and initializes the parameters for inputs of this size.
  void materialize(int64_t features);
};

/// x1 @ weight[o] @ x2 + bias[o].
class Bilinear : public OptionsLayer<Bilinear, BilinearOptions> {
 public:
  static constexpr const char* kName = "Bilinear";
  static constexpr const char* kSignature =
      "(in1_features: int, in2_features: int, out_features: int, _bias: bool = True, dtype: dtype? = None)";
  Bilinear() = default;
  explicit Bilinear(Options given) : OptionsLayer(given) { build(options.dtype); }

  Tensor forward(const Tensor& input1, const Tensor& input2);
  Tree forward_with(const Arguments& arguments) override;
  std::string extra_repr() const override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 private:
  using Module::forward;
};

/// Returns its input and ignores other arguments.
class Identity : public Layer<Identity> {
 public:
  static constexpr const char* kName = "Identity";
  Tensor forward(const Tensor& input) override { return input; }
  Tree forward_with(const Arguments& arguments) override;
};

/// Merges the dimensions from start_dim to end_dim into one.
class Flatten : public OptionsLayer<Flatten, FlattenOptions> {
 public:
  static constexpr const char* kName = "Flatten";
  static constexpr const char* kSignature = "(start_dim: int = 1, end_dim: int = -1)";
  using OptionsLayer::OptionsLayer;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
};

/// Splits one dimension into several.
class Unflatten : public OptionsLayer<Unflatten, UnflattenOptions> {
 public:
  static constexpr const char* kName = "Unflatten";
  static constexpr const char* kSignature = "(dim: int, unflattened_size: shape)";
  using OptionsLayer::OptionsLayer;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
