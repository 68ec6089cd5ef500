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
  bool inplace = false;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;

 protected:
  virtual const char* op_name() const = 0;
  /// The values of the op's attributes, in order.
  virtual std::vector<Item> settings() const { return {}; }

 private:
  const Op* op_ = nullptr;
};

/// An activation whose only setting is `inplace`. Self defines kName and kOp.
template <typename Self>
class SimpleActivation : public Layer<Self, Activation> {
 public:
  explicit SimpleActivation(bool inplace = false) { this->inplace = inplace; }

 protected:
  const char* op_name() const override { return Self::kOp; }
};

/// max(x, 0); NaN stays NaN.
class ReLU : public SimpleActivation<ReLU> {
 public:
  static constexpr const char* kName = "ReLU";
  static constexpr const char* kOp = "relu";
  using SimpleActivation::SimpleActivation;
};
/// Clamps x to [0, 6].
class ReLU6 : public SimpleActivation<ReLU6> {
 public:
  static constexpr const char* kName = "ReLU6";
  static constexpr const char* kOp = "relu6";
  using SimpleActivation::SimpleActivation;
};
/// x * sigmoid(x), also called swish.
class SiLU : public SimpleActivation<SiLU> {
 public:
  static constexpr const char* kName = "SiLU";
  static constexpr const char* kOp = "silu";
  using SimpleActivation::SimpleActivation;
};
/// x * tanh(softplus(x)).
class Mish : public SimpleActivation<Mish> {
 public:
  static constexpr const char* kName = "Mish";
  static constexpr const char* kOp = "mish";
  using SimpleActivation::SimpleActivation;
};
/// ELU with constants that preserve mean 0 and variance 1 through many layers.
class SELU : public SimpleActivation<SELU> {
 public:
  static constexpr const char* kName = "SELU";
  static constexpr const char* kOp = "selu";
  using SimpleActivation::SimpleActivation;
};
/// x * hardsigmoid(x).
class Hardswish : public SimpleActivation<Hardswish> {
 public:
  static constexpr const char* kName = "Hardswish";
  static constexpr const char* kOp = "hardswish";
  using SimpleActivation::SimpleActivation;
};
/// x / 6 + 1/2, clamped to [0, 1].
class Hardsigmoid : public SimpleActivation<Hardsigmoid> {
 public:
  static constexpr const char* kName = "Hardsigmoid";
  static constexpr const char* kOp = "hardsigmoid";
  using SimpleActivation::SimpleActivation;
};
/// 1 / (1 + exp(-x)).
class Sigmoid : public SimpleActivation<Sigmoid> {
 public:
  static constexpr const char* kName = "Sigmoid";
  static constexpr const char* kOp = "sigmoid";
};
/// The hyperbolic tangent.
class Tanh : public SimpleActivation<Tanh> {
 public:
  static constexpr const char* kName = "Tanh";
  static constexpr const char* kOp = "tanh";
};
/// log(sigmoid(x)), without overflow.
class LogSigmoid : public SimpleActivation<LogSigmoid> {
 public:
  static constexpr const char* kName = "LogSigmoid";
  static constexpr const char* kOp = "logsigmoid";
};
/// x / (1 + |x|).
class Softsign : public SimpleActivation<Softsign> {
 public:
  static constexpr const char* kName = "Softsign";
  static constexpr const char* kOp = "softsign";
};
/// x - tanh(x).
class Tanhshrink : public SimpleActivation<Tanhshrink> {
 public:
  static constexpr const char* kName = "Tanhshrink";
  static constexpr const char* kOp = "tanhshrink";
};

/// An activation with one number as its setting. Self also defines kSetting, the op's attribute, and kDefault.
template <typename Self>
class ScaledActivation : public Layer<Self, Activation> {
 public:
  explicit ScaledActivation(double value = Self::kDefault, bool inplace = false) : value(value) {
    this->inplace = inplace;
  }
  double value;
  void fields(Fields& visit) override {
    visit(Self::kSetting, value);
    Activation::fields(visit);
  }

 protected:
  const char* op_name() const override { return Self::kOp; }
  std::vector<Item> settings() const override { return {value}; }
};

/// x where it is above 0, otherwise x * negative_slope.
class LeakyReLU : public ScaledActivation<LeakyReLU> {
 public:
  static constexpr const char* kName = "LeakyReLU";
  static constexpr const char* kOp = "leaky_relu";
  static constexpr const char* kSetting = "negative_slope";
  static constexpr double kDefault = 0.01;
  using ScaledActivation::ScaledActivation;
};
/// x where it is above 0, otherwise alpha * (exp(x) - 1).
class ELU : public ScaledActivation<ELU> {
 public:
  static constexpr const char* kName = "ELU";
  static constexpr const char* kOp = "elu";
  static constexpr const char* kSetting = "alpha";
  static constexpr double kDefault = 1;
  using ScaledActivation::ScaledActivation;
};
/// x where it is above 0, otherwise alpha * (exp(x / alpha) - 1).
class CELU : public ScaledActivation<CELU> {
 public:
  static constexpr const char* kName = "CELU";
  static constexpr const char* kOp = "celu";
  static constexpr const char* kSetting = "alpha";
  static constexpr double kDefault = 1;
  using ScaledActivation::ScaledActivation;
};
/// x, but 0 where |x| <= lambd.
class Hardshrink : public ScaledActivation<Hardshrink> {
 public:
  static constexpr const char* kName = "Hardshrink";
  static constexpr const char* kOp = "hardshrink";
  static constexpr const char* kSetting = "lambd";
  static constexpr double kDefault = 0.5;
  using ScaledActivation::ScaledActivation;
};
/// x moved towards 0 by lambd, and 0 where |x| <= lambd.
class Softshrink : public ScaledActivation<Softshrink> {
 public:
  static constexpr const char* kName = "Softshrink";
  static constexpr const char* kOp = "softshrink";
  static constexpr const char* kSetting = "lambd";
  static constexpr double kDefault = 0.5;
  using ScaledActivation::ScaledActivation;
};

/// x times the probability that a standard normal variable is below x. `approximate` is "none" or "tanh".
class GELU : public Layer<GELU, Activation> {
 public:
  static constexpr const char* kName = "GELU";
  explicit GELU(std::string approximate = "none") : approximate(std::move(approximate)) {}
  std::string approximate;
  void fields(Fields& visit) override;

 protected:
  const char* op_name() const override { return "gelu"; }
  std::vector<Item> settings() const override { return {approximate}; }
};

/// Clamps x to [min_val, max_val].
class Hardtanh : public Layer<Hardtanh, Activation> {
 public:
  static constexpr const char* kName = "Hardtanh";
  explicit Hardtanh(double min_val = -1, double max_val = 1, bool inplace = false)
      : min_val(min_val), max_val(max_val) {
    this->inplace = inplace;
  }
  double min_val;
  double max_val;
  void fields(Fields& visit) override;

 protected:
  const char* op_name() const override { return "hardtanh"; }
  std::vector<Item> settings() const override { return {min_val, max_val}; }
};

/// log(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold.
class Softplus : public Layer<Softplus, Activation> {
 public:
  static constexpr const char* kName = "Softplus";
  explicit Softplus(double beta = 1, double threshold = 20) : beta(beta), threshold(threshold) {}
  double beta;
  double threshold;
  void fields(Fields& visit) override;

 protected:
  const char* op_name() const override { return "softplus"; }
  std::vector<Item> settings() const override { return {beta, threshold}; }
};

/// x where it is above the threshold, otherwise `value`.
class Threshold : public Layer<Threshold, Activation> {
 public:
  static constexpr const char* kName = "Threshold";
  Threshold() = default;
  Threshold(double threshold, double value, bool inplace = false) : threshold(threshold), value(value) {
    this->inplace = inplace;
  }
  double threshold = 0;
  double value = 0;
  void fields(Fields& visit) override;

 protected:
  const char* op_name() const override { return "threshold"; }
  std::vector<Item> settings() const override { return {threshold, value}; }
};

/// x where it is above 0, otherwise weight * x. The weight is learned: one for all channels, or one for each channel.
class PReLU : public Layer<PReLU> {
 public:
  static constexpr const char* kName = "PReLU";
  PReLU() = default;
  explicit PReLU(int64_t num_parameters, double init = 0.25, std::optional<Dtype> dtype = std::nullopt);
  int64_t num_parameters = 1;
  double init = 0.25;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// leaky_relu with slopes sampled uniformly from [lower, upper] in training mode, and their mean otherwise.
class RReLU : public Layer<RReLU> {
 public:
  static constexpr const char* kName = "RReLU";
  explicit RReLU(double lower = 1.0 / 8, double upper = 1.0 / 3, bool inplace = false)
      : lower(lower), upper(upper), inplace(inplace) {}
  double lower;
  double upper;
  bool inplace;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};

/// The first half of dimension `dim` times the sigmoid of the second half.
class GLU : public Layer<GLU> {
 public:
  static constexpr const char* kName = "GLU";
  explicit GLU(int64_t dim = -1) : dim(dim) {}
  int64_t dim;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};

/// exp(x), scaled to sum to 1 along `dim`.
class Softmax : public Layer<Softmax> {
 public:
  static constexpr const char* kName = "Softmax";
  explicit Softmax(int64_t dim = -1) : dim(dim) {}
  int64_t dim;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};
/// The logarithm of the softmax, without underflow.
class LogSoftmax : public Layer<LogSoftmax> {
 public:
  static constexpr const char* kName = "LogSoftmax";
  explicit LogSoftmax(int64_t dim = -1) : dim(dim) {}
  int64_t dim;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};
/// The softmax of -x.
class Softmin : public Layer<Softmin> {
 public:
  static constexpr const char* kName = "Softmin";
  explicit Softmin(int64_t dim = -1) : dim(dim) {}
  int64_t dim;
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
