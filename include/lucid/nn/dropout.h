#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Sets elements to zero with probability p while training, and scales the others up.
class DropoutBase : public Module {
 public:
  double p = 0.5;
  bool inplace = false;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype>) override;

 protected:
  virtual const char* op_name() const = 0;
  /// How many dimensions a channel has that is dropped as a whole; none if elements are dropped.
  virtual std::optional<int64_t> spatial() const { return std::nullopt; }
};

template <typename Self>
class DropoutLayer : public Layer<Self, DropoutBase> {
 public:
  explicit DropoutLayer(double p = 0.5, bool inplace = false) {
    this->p = p;
    this->inplace = inplace;
    this->build(std::nullopt);
  }

 protected:
  const char* op_name() const override { return Self::kOp; }
};

class Dropout : public DropoutLayer<Dropout> {
 public:
  static constexpr const char* kName = "Dropout";
  static constexpr const char* kOp = "draw_dropout";
  using DropoutLayer::DropoutLayer;
};
class Dropout1d : public DropoutLayer<Dropout1d> {
 public:
  static constexpr const char* kName = "Dropout1d";
  static constexpr const char* kOp = "draw_feature_dropout";
  using DropoutLayer::DropoutLayer;

 protected:
  std::optional<int64_t> spatial() const override { return 1; }
};
class Dropout2d : public DropoutLayer<Dropout2d> {
 public:
  static constexpr const char* kName = "Dropout2d";
  static constexpr const char* kOp = "draw_feature_dropout";
  using DropoutLayer::DropoutLayer;

 protected:
  std::optional<int64_t> spatial() const override { return 2; }
};
class Dropout3d : public DropoutLayer<Dropout3d> {
 public:
  static constexpr const char* kName = "Dropout3d";
  static constexpr const char* kOp = "draw_feature_dropout";
  using DropoutLayer::DropoutLayer;

 protected:
  std::optional<int64_t> spatial() const override { return 3; }
};
/// Keeps mean and variance of inputs that are normal, for networks of SELU.
class AlphaDropout : public DropoutLayer<AlphaDropout> {
 public:
  static constexpr const char* kName = "AlphaDropout";
  static constexpr const char* kOp = "draw_alpha_dropout";
  using DropoutLayer::DropoutLayer;
};
class FeatureAlphaDropout : public DropoutLayer<FeatureAlphaDropout> {
 public:
  static constexpr const char* kName = "FeatureAlphaDropout";
  static constexpr const char* kOp = "draw_feature_alpha_dropout";
  using DropoutLayer::DropoutLayer;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
