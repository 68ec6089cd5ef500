#pragma once

#include "lucid/nn/layer.h"

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
  virtual std::vector<Item> attributes() const = 0;
  virtual bool is_inplace() const = 0;

 private:
  const Op* op_ = nullptr;
};

/// Options of activations that have no others.
struct ActivationOptions {
  /// Whether to write the result to the input.
  bool inplace = false;

  void fields(auto& visit) { visit("inplace", inplace); }
};

/// An activation with these options, of which all but `inplace` are attributes of its op. Self defines kName and kOp.
template <typename Self, typename Options_ = ActivationOptions>
class ActivationLayer : public Layer<Self, Activation> {
 public:
  using Options = Options_;
  ActivationLayer() = default;
  explicit ActivationLayer(Options options) : options(std::move(options)) {}
  Options options;
  void fields(Fields& visit) override { options.fields(visit); }

 protected:
  const char* op_name() const override { return Self::kOp; }
  std::vector<Item> attributes() const override {
    std::vector<Item> values;
    auto visit = [&](std::string_view name, const auto& value) {
      if (name != "inplace") values.push_back(to_item(value));
    };
    Options(options).fields(visit);
    return values;
  }
  bool is_inplace() const override {
    if constexpr (requires { options.inplace; })
      return options.inplace;
    else
      return false;
  }
};

/// max(x, 0); NaN stays NaN.
class ReLU : public ActivationLayer<ReLU> {
 public:
  static constexpr const char* kName = "ReLU";
  static constexpr const char* kOp = "relu";
  using ActivationLayer::ActivationLayer;
};
/// Clamps x to [0, 6].
class ReLU6 : public ActivationLayer<ReLU6> {
 public:
  static constexpr const char* kName = "ReLU6";
  static constexpr const char* kOp = "relu6";
  using ActivationLayer::ActivationLayer;
};
/// x * sigmoid(x), also called swish.
class SiLU : public ActivationLayer<SiLU> {
 public:
  static constexpr const char* kName = "SiLU";
  static constexpr const char* kOp = "silu";
  using ActivationLayer::ActivationLayer;
};
/// x * tanh(softplus(x)).
class Mish : public ActivationLayer<Mish> {
 public:
  static constexpr const char* kName = "Mish";
  static constexpr const char* kOp = "mish";
  using ActivationLayer::ActivationLayer;
};
/// ELU with constants that preserve mean 0 and variance 1 through many layers.
class SELU : public ActivationLayer<SELU> {
 public:
  static constexpr const char* kName = "SELU";
  static constexpr const char* kOp = "selu";
  using ActivationLayer::ActivationLayer;
};
/// x * hardsigmoid(x).
class Hardswish : public ActivationLayer<Hardswish> {
 public:
  static constexpr const char* kName = "Hardswish";
  static constexpr const char* kOp = "hardswish";
  using ActivationLayer::ActivationLayer;
};
/// x / 6 + 1/2, clamped to [0, 1].
class Hardsigmoid : public ActivationLayer<Hardsigmoid> {
 public:
  static constexpr const char* kName = "Hardsigmoid";
  static constexpr const char* kOp = "hardsigmoid";
  using ActivationLayer::ActivationLayer;
};
/// 1 / (1 + exp(-x)).
class Sigmoid : public ActivationLayer<Sigmoid> {
 public:
  static constexpr const char* kName = "Sigmoid";
  static constexpr const char* kOp = "sigmoid";
  using ActivationLayer::ActivationLayer;
};
/// The hyperbolic tangent.
class Tanh : public ActivationLayer<Tanh> {
 public:
  static constexpr const char* kName = "Tanh";
  static constexpr const char* kOp = "tanh";
  using ActivationLayer::ActivationLayer;
};
/// log(sigmoid(x)), without overflow.
class LogSigmoid : public ActivationLayer<LogSigmoid> {
 public:
  static constexpr const char* kName = "LogSigmoid";
  static constexpr const char* kOp = "logsigmoid";
  using ActivationLayer::ActivationLayer;
};
/// x / (1 + |x|).
class Softsign : public ActivationLayer<Softsign> {
 public:
  static constexpr const char* kName = "Softsign";
  static constexpr const char* kOp = "softsign";
  using ActivationLayer::ActivationLayer;
};
/// x - tanh(x).
class Tanhshrink : public ActivationLayer<Tanhshrink> {
 public:
  static constexpr const char* kName = "Tanhshrink";
  static constexpr const char* kOp = "tanhshrink";
  using ActivationLayer::ActivationLayer;
};

/// Options of LeakyReLU.
struct LeakyReLUOptions {
  double negative_slope = 0.01;
  bool inplace = false;

  void fields(auto& visit) {
    visit("negative_slope", negative_slope);
    visit("inplace", inplace);
  }
};

/// x where it is above 0, otherwise x * negative_slope.
class LeakyReLU : public ActivationLayer<LeakyReLU, LeakyReLUOptions> {
 public:
  static constexpr const char* kName = "LeakyReLU";
  static constexpr const char* kOp = "leaky_relu";
  using ActivationLayer::ActivationLayer;
};
/// Options of ELU and CELU.
struct ELUOptions {
  double alpha = 1;
  bool inplace = false;

  void fields(auto& visit) {
    visit("alpha", alpha);
    visit("inplace", inplace);
  }
};

/// x where it is above 0, otherwise alpha * (exp(x) - 1).
class ELU : public ActivationLayer<ELU, ELUOptions> {
 public:
  static constexpr const char* kName = "ELU";
  static constexpr const char* kOp = "elu";
  using ActivationLayer::ActivationLayer;
};
/// x where it is above 0, otherwise alpha * (exp(x / alpha) - 1).
class CELU : public ActivationLayer<CELU, ELUOptions> {
 public:
  static constexpr const char* kName = "CELU";
  static constexpr const char* kOp = "celu";
  using ActivationLayer::ActivationLayer;
};
/// Options of Hardshrink and Softshrink.
struct ShrinkOptions {
  double lambd = 0.5;
  bool inplace = false;

  void fields(auto& visit) {
    visit("lambd", lambd);
    visit("inplace", inplace);
  }
};

/// x, but 0 where |x| <= lambd.
class Hardshrink : public ActivationLayer<Hardshrink, ShrinkOptions> {
 public:
  static constexpr const char* kName = "Hardshrink";
  static constexpr const char* kOp = "hardshrink";
  using ActivationLayer::ActivationLayer;
};
/// x moved towards 0 by lambd, and 0 where |x| <= lambd.
class Softshrink : public ActivationLayer<Softshrink, ShrinkOptions> {
 public:
  static constexpr const char* kName = "Softshrink";
  static constexpr const char* kOp = "softshrink";
  using ActivationLayer::ActivationLayer;
};

/// Options of GELU.
struct GELUOptions {
  std::string approximate = "none";

  void fields(auto& visit) { visit("approximate", approximate); }
};

/// x times the probability that a standard normal variable is below x. `approximate` is "none" or "tanh".
class GELU : public ActivationLayer<GELU, GELUOptions> {
 public:
  static constexpr const char* kName = "GELU";
  static constexpr const char* kOp = "gelu";
  using ActivationLayer::ActivationLayer;
};

/// Options of Hardtanh.
struct HardtanhOptions {
  double min_val = -1;
  double max_val = 1;
  bool inplace = false;

  void fields(auto& visit) {
    visit("min_val", min_val);
    visit("max_val", max_val);
    visit("inplace", inplace);
  }
};

/// Clamps x to [min_val, max_val].
class Hardtanh : public ActivationLayer<Hardtanh, HardtanhOptions> {
 public:
  static constexpr const char* kName = "Hardtanh";
  static constexpr const char* kOp = "hardtanh";
  using ActivationLayer::ActivationLayer;
};

/// Options of Softplus.
struct SoftplusOptions {
  double beta = 1;
  double threshold = 20;

  void fields(auto& visit) {
    visit("beta", beta);
    visit("threshold", threshold);
  }
};

/// log(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold.
class Softplus : public ActivationLayer<Softplus, SoftplusOptions> {
 public:
  static constexpr const char* kName = "Softplus";
  static constexpr const char* kOp = "softplus";
  using ActivationLayer::ActivationLayer;
};

/// Options of Threshold.
struct ThresholdOptions {
  double threshold = 0;
  double value = 0;
  bool inplace = false;

  void fields(auto& visit) {
    visit("threshold", threshold);
    visit("value", value);
    visit("inplace", inplace);
  }
};

/// x where it is above the threshold, otherwise `value`.
class Threshold : public ActivationLayer<Threshold, ThresholdOptions> {
 public:
  static constexpr const char* kName = "Threshold";
  static constexpr const char* kOp = "threshold";
  using ActivationLayer::ActivationLayer;
};

/// Options of PReLU.
struct PReLUOptions {
  /// 1, or the number of channels.
  int64_t num_parameters = 1;
  double init = 0.25;
  std::optional<Dtype> dtype = std::nullopt;
};

/// x where it is above 0, otherwise weight * x. The weight is learned: one for all channels, or one for each channel.
class PReLU : public Layer<PReLU> {
 public:
  static constexpr const char* kName = "PReLU";
  using Options = PReLUOptions;
  PReLU() = default;
  explicit PReLU(const Options& options) : options(options) { build(options.dtype); }
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Options of RReLU.
struct RReLUOptions {
  double lower = 1.0 / 8;
  double upper = 1.0 / 3;
  bool inplace = false;

  void fields(auto& visit) {
    visit("lower", lower);
    visit("upper", upper);
    visit("inplace", inplace);
  }
};

/// leaky_relu with slopes sampled uniformly from [lower, upper] in training mode, and their mean otherwise.
class RReLU : public Layer<RReLU> {
 public:
  static constexpr const char* kName = "RReLU";
  using Options = RReLUOptions;
  RReLU() = default;
  explicit RReLU(const Options& options) : options(options) {}
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};

/// Options of GLU and the softmax modules.
struct DimOptions {
  int64_t dim = -1;
};

/// The first half of dimension `dim` times the sigmoid of the second half.
class GLU : public Layer<GLU> {
 public:
  static constexpr const char* kName = "GLU";
  using Options = DimOptions;
  GLU() = default;
  explicit GLU(const Options& options) : options(options) {}
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};

/// exp(x), scaled to sum to 1 along `dim`.
class Softmax : public Layer<Softmax> {
 public:
  static constexpr const char* kName = "Softmax";
  using Options = DimOptions;
  Softmax() = default;
  explicit Softmax(const Options& options) : options(options) {}
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};
/// The logarithm of the softmax, without underflow.
class LogSoftmax : public Layer<LogSoftmax> {
 public:
  static constexpr const char* kName = "LogSoftmax";
  using Options = DimOptions;
  LogSoftmax() = default;
  explicit LogSoftmax(const Options& options) : options(options) {}
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};
/// The softmax of -x.
class Softmin : public Layer<Softmin> {
 public:
  static constexpr const char* kName = "Softmin";
  using Options = DimOptions;
  Softmin() = default;
  explicit Softmin(const Options& options) : options(options) {}
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};
/// The softmax over the channels of images, (batch, channels, height, width) or without a batch.
class Softmax2d : public Layer<Softmax2d> {
 public:
  static constexpr const char* kName = "Softmax2d";
  Tensor forward(const Tensor& input) override;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
