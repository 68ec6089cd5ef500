#pragma once

#include "lucid/nn/options/activation.h"

#pragma GCC visibility push(default)
namespace lucid {
struct Op;
}
namespace lucid::nn {

/// Applies an elementwise op, optionally in place.
class Activation : public Module {
 public:
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;

 protected:
  virtual const char* op_name() const = 0;
  /// The values of the op's attributes, in order.
  virtual std::vector<Tree> attributes() const = 0;
  virtual bool is_inplace() const = 0;

 private:
  const Op* op_ = nullptr;
};

/// An activation with these options, of which all but `inplace` are attributes of its op. Self defines kName and kOp.
template <typename Self, typename Options_>
class ActivationLayer : public OptionsLayer<Self, Options_, Activation> {
 public:
  using OptionsLayer<Self, Options_, Activation>::OptionsLayer;

 protected:
  const char* op_name() const override { return Self::kOp; }
  std::vector<Tree> attributes() const override {
    std::vector<Tree> values;
    auto visit = [&](std::string_view name, const auto& value) {
      if (name != "inplace") values.push_back(tree_of(value));
    };
    Options_(this->options).fields(visit);
    return values;
  }
  bool is_inplace() const override {
    if constexpr (requires(Options_ options) { options.inplace; })
      return this->options.inplace;
    else
      return false;
  }
};

/// max(x, 0); NaN stays NaN.
class ReLU : public ActivationLayer<ReLU, ActivationOptions> {
 public:
  static constexpr const char* kName = "ReLU";
  static constexpr const char* kSignature = "(inplace: bool = False)";
  static constexpr const char* kOp = "relu";
  using ActivationLayer::ActivationLayer;
};
/// Clamps x to [0, 6].
class ReLU6 : public ActivationLayer<ReLU6, ActivationOptions> {
 public:
  static constexpr const char* kName = "ReLU6";
  static constexpr const char* kSignature = ReLU::kSignature;
  static constexpr const char* kOp = "relu6";
  using ActivationLayer::ActivationLayer;
};
/// x * sigmoid(x), also called swish.
class SiLU : public ActivationLayer<SiLU, ActivationOptions> {
 public:
  static constexpr const char* kName = "SiLU";
  static constexpr const char* kSignature = ReLU::kSignature;
  static constexpr const char* kOp = "silu";
  using ActivationLayer::ActivationLayer;
};
/// x * tanh(softplus(x)).
class Mish : public ActivationLayer<Mish, ActivationOptions> {
 public:
  static constexpr const char* kName = "Mish";
  static constexpr const char* kSignature = ReLU::kSignature;
  static constexpr const char* kOp = "mish";
  using ActivationLayer::ActivationLayer;
};
/// ELU with constants that preserve mean 0 and variance 1 through many layers.
class SELU : public ActivationLayer<SELU, ActivationOptions> {
 public:
  static constexpr const char* kName = "SELU";
  static constexpr const char* kSignature = ReLU::kSignature;
  static constexpr const char* kOp = "selu";
  using ActivationLayer::ActivationLayer;
};
/// x * hardsigmoid(x).
class Hardswish : public ActivationLayer<Hardswish, ActivationOptions> {
 public:
  static constexpr const char* kName = "Hardswish";
  static constexpr const char* kSignature = ReLU::kSignature;
  static constexpr const char* kOp = "hardswish";
  using ActivationLayer::ActivationLayer;
};
/// x / 6 + 1/2, clamped to [0, 1].
class Hardsigmoid : public ActivationLayer<Hardsigmoid, ActivationOptions> {
 public:
  static constexpr const char* kName = "Hardsigmoid";
  static constexpr const char* kSignature = ReLU::kSignature;
  static constexpr const char* kOp = "hardsigmoid";
  using ActivationLayer::ActivationLayer;
};
/// 1 / (1 + exp(-x)).
class Sigmoid : public ActivationLayer<Sigmoid, ActivationOptions> {
 public:
  static constexpr const char* kName = "Sigmoid";
  static constexpr const char* kOp = "sigmoid";
  using ActivationLayer::ActivationLayer;
};
/// The hyperbolic tangent.
class Tanh : public ActivationLayer<Tanh, ActivationOptions> {
 public:
  static constexpr const char* kName = "Tanh";
  static constexpr const char* kOp = "tanh";
  using ActivationLayer::ActivationLayer;
};
/// log(sigmoid(x)), without overflow.
class LogSigmoid : public ActivationLayer<LogSigmoid, ActivationOptions> {
 public:
  static constexpr const char* kName = "LogSigmoid";
  static constexpr const char* kOp = "logsigmoid";
  using ActivationLayer::ActivationLayer;
};
/// x / (1 + |x|).
class Softsign : public ActivationLayer<Softsign, ActivationOptions> {
 public:
  static constexpr const char* kName = "Softsign";
  static constexpr const char* kOp = "softsign";
  using ActivationLayer::ActivationLayer;
};
/// x - tanh(x).
class Tanhshrink : public ActivationLayer<Tanhshrink, ActivationOptions> {
 public:
  static constexpr const char* kName = "Tanhshrink";
  static constexpr const char* kOp = "tanhshrink";
  using ActivationLayer::ActivationLayer;
};

/// x where it is above 0, otherwise x * negative_slope.
class LeakyReLU : public ActivationLayer<LeakyReLU, LeakyReLUOptions> {
 public:
  static constexpr const char* kName = "LeakyReLU";
  static constexpr const char* kSignature = "(negative_slope: float = 0.01, inplace: bool = False)";
  static constexpr const char* kOp = "leaky_relu";
  using ActivationLayer::ActivationLayer;
};
/// x where it is above 0, otherwise alpha * (exp(x) - 1).
class ELU : public ActivationLayer<ELU, ELUOptions> {
 public:
  static constexpr const char* kName = "ELU";
  static constexpr const char* kSignature = "(alpha: float = 1.0, inplace: bool = False)";
  static constexpr const char* kOp = "elu";
  using ActivationLayer::ActivationLayer;
};
/// x where it is above 0, otherwise alpha * (exp(x / alpha) - 1).
class CELU : public ActivationLayer<CELU, ELUOptions> {
 public:
  static constexpr const char* kName = "CELU";
  static constexpr const char* kSignature = ELU::kSignature;
  static constexpr const char* kOp = "celu";
  using ActivationLayer::ActivationLayer;
};
/// x, but 0 where |x| <= lambd.
class Hardshrink : public ActivationLayer<Hardshrink, ShrinkOptions> {
 public:
  static constexpr const char* kName = "Hardshrink";
  static constexpr const char* kSignature = "(lambd: float = 0.5, cpp inplace: bool = False)";
  static constexpr const char* kOp = "hardshrink";
  using ActivationLayer::ActivationLayer;
};
/// x moved towards 0 by lambd, and 0 where |x| <= lambd.
class Softshrink : public ActivationLayer<Softshrink, ShrinkOptions> {
 public:
  static constexpr const char* kName = "Softshrink";
  static constexpr const char* kSignature = Hardshrink::kSignature;
  static constexpr const char* kOp = "softshrink";
  using ActivationLayer::ActivationLayer;
};

/// x times the probability that a standard normal variable is below x. `approximate` is "none" or "tanh".
class GELU : public ActivationLayer<GELU, GELUOptions> {
 public:
  static constexpr const char* kName = "GELU";
  static constexpr const char* kSignature = "(approximate: str = 'none')";
  static constexpr const char* kOp = "gelu";
  using ActivationLayer::ActivationLayer;
};

/// Clamps x to [min_val, max_val].
class Hardtanh : public ActivationLayer<Hardtanh, HardtanhOptions> {
 public:
  static constexpr const char* kName = "Hardtanh";
  static constexpr const char* kSignature = "(min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False)";
  static constexpr const char* kOp = "hardtanh";
  using ActivationLayer::ActivationLayer;
};

/// log(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold.
class Softplus : public ActivationLayer<Softplus, SoftplusOptions> {
 public:
  static constexpr const char* kName = "Softplus";
  static constexpr const char* kSignature = "(beta: float = 1.0, threshold: float = 20.0)";
  static constexpr const char* kOp = "softplus";
  using ActivationLayer::ActivationLayer;
};

/// x where it is above the threshold, otherwise `value`.
class Threshold : public ActivationLayer<Threshold, ThresholdOptions> {
 public:
  static constexpr const char* kName = "Threshold";
  static constexpr const char* kSignature = "(threshold: float, value: float, inplace: bool = False)";
  static constexpr const char* kOp = "threshold";
  using ActivationLayer::ActivationLayer;
};

/// x where it is above 0, otherwise weight * x. The weight is learned: one for all channels, or one for each channel.
class PReLU : public OptionsLayer<PReLU, PReLUOptions> {
 public:
  static constexpr const char* kName = "PReLU";
  static constexpr const char* kSignature = "(num_parameters: int = 1, init: float = 0.25, dtype: dtype? = None)";
  PReLU() = default;
  explicit PReLU(const Options& given) : OptionsLayer(given) { build(options.dtype); }
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// leaky_relu with slopes sampled uniformly from [lower, upper] in training mode, and their mean otherwise.
class RReLU : public OptionsLayer<RReLU, RReLUOptions> {
 public:
  static constexpr const char* kName = "RReLU";
  static constexpr const char* kSignature =
      "(lower: float = 0.125, upper: float = 0.3333333333333333, inplace: bool = False)";
  using OptionsLayer::OptionsLayer;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
};

/// The first half of dimension `dim` times the sigmoid of the second half.
class GLU : public OptionsLayer<GLU, DimOptions> {
 public:
  static constexpr const char* kName = "GLU";
  static constexpr const char* kSignature = "(dim: int = -1)";
  using OptionsLayer::OptionsLayer;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
};

/// exp(x), scaled to sum to 1 along `dim`.
class Softmax : public OptionsLayer<Softmax, DimOptions> {
 public:
  static constexpr const char* kName = "Softmax";
  static constexpr const char* kSignature = GLU::kSignature;
  using OptionsLayer::OptionsLayer;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
};
/// The logarithm of the softmax, without underflow.
class LogSoftmax : public OptionsLayer<LogSoftmax, DimOptions> {
 public:
  static constexpr const char* kName = "LogSoftmax";
  static constexpr const char* kSignature = GLU::kSignature;
  using OptionsLayer::OptionsLayer;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
};
/// The softmax of -x.
class Softmin : public OptionsLayer<Softmin, DimOptions> {
 public:
  static constexpr const char* kName = "Softmin";
  static constexpr const char* kSignature = GLU::kSignature;
  using OptionsLayer::OptionsLayer;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
};
/// The softmax over the channels of images, (batch, channels, height, width) or without a batch.
class Softmax2d : public Layer<Softmax2d> {
 public:
  static constexpr const char* kName = "Softmax2d";
  Tensor forward(const Tensor& input) override;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
