#pragma once

#include "lucid/nn/options/dropout.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// In training mode, sets elements to zero with probability p and scales the others by 1 / (1 - p).
class DropoutBase : public Module {
 public:
  DropoutOptions options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype>) override;

 protected:
  virtual const char* op_name() const = 0;
  /// If whole channels are dropped, the number of dimensions of a channel.
  virtual std::optional<int64_t> spatial() const { return std::nullopt; }
};

template <typename Self>
class DropoutLayer : public Layer<Self, DropoutBase> {
 public:
  using Options = DropoutOptions;
  DropoutLayer() = default;
  explicit DropoutLayer(const Options& options) {
    this->options = options;
    this->build(std::nullopt);
  }

 protected:
  const char* op_name() const override { return Self::kOp; }
};

/// Drops single elements.
class Dropout : public DropoutLayer<Dropout> {
 public:
  static constexpr const char* kName = "Dropout";
  static constexpr const char* kSignature = "(p: float = 0.5, inplace: bool = False)";
  static constexpr const char* kOp = "random_dropout";
  using DropoutLayer::DropoutLayer;
};
/// Drops whole channels of (batch, channels, length).
class Dropout1d : public DropoutLayer<Dropout1d> {
 public:
  static constexpr const char* kName = "Dropout1d";
  static constexpr const char* kSignature = Dropout::kSignature;
  static constexpr const char* kOp = "random_feature_dropout";
  using DropoutLayer::DropoutLayer;

 protected:
  std::optional<int64_t> spatial() const override { return 1; }
};
/// Drops whole channels of (batch, channels, height, width).
class Dropout2d : public DropoutLayer<Dropout2d> {
 public:
  static constexpr const char* kName = "Dropout2d";
  static constexpr const char* kSignature = Dropout::kSignature;
  static constexpr const char* kOp = "random_feature_dropout";
  using DropoutLayer::DropoutLayer;

 protected:
  std::optional<int64_t> spatial() const override { return 2; }
};
/// Drops whole channels of (batch, channels, depth, height, width).
class Dropout3d : public DropoutLayer<Dropout3d> {
 public:
  static constexpr const char* kName = "Dropout3d";
  static constexpr const char* kSignature = Dropout::kSignature;
  static constexpr const char* kOp = "random_feature_dropout";
  using DropoutLayer::DropoutLayer;

 protected:
  std::optional<int64_t> spatial() const override { return 3; }
};
/// Dropout for networks with SELU: preserves the mean and variance of normally distributed inputs.
class AlphaDropout : public DropoutLayer<AlphaDropout> {
 public:
  static constexpr const char* kName = "AlphaDropout";
  static constexpr const char* kSignature = Dropout::kSignature;
  static constexpr const char* kOp = "random_alpha_dropout";
  using DropoutLayer::DropoutLayer;
};
/// AlphaDropout of whole channels.
class FeatureAlphaDropout : public DropoutLayer<FeatureAlphaDropout> {
 public:
  static constexpr const char* kName = "FeatureAlphaDropout";
  static constexpr const char* kSignature = Dropout::kSignature;
  static constexpr const char* kOp = "random_feature_alpha_dropout";
  using DropoutLayer::DropoutLayer;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
