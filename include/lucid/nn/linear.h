#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// x @ weight.T + bias.
class Linear : public Layer<Linear> {
 public:
  static constexpr const char* kName = "Linear";
  Linear() = default;
  Linear(int64_t in_features, int64_t out_features, bool bias = true, std::optional<Dtype> dtype = std::nullopt);

  int64_t in_features = 0;
  int64_t out_features = 0;

  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  /// Samples weight and bias uniformly from +-1 / sqrt(in_features).
  void reset_parameters() override;

 protected:
  bool has_bias_ = true;
};

/// A Linear whose in_features is determined by the first input.
class LazyLinear : public Layer<LazyLinear, Linear> {
 public:
  static constexpr const char* kName = "LazyLinear";
  LazyLinear() = default;
  explicit LazyLinear(int64_t out_features, bool bias = true, std::optional<Dtype> dtype = std::nullopt);

  Tensor forward(const Tensor& input) override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 private:
  /// Allocates and initializes the parameters for inputs of this size.
  void materialize(int64_t features);
};

/// x1 @ weight[o] @ x2 + bias[o].
class Bilinear : public Layer<Bilinear> {
 public:
  static constexpr const char* kName = "Bilinear";
  Bilinear() = default;
  Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features, bool bias = true,
           std::optional<Dtype> dtype = std::nullopt);

  int64_t in1_features = 0;
  int64_t in2_features = 0;
  int64_t out_features = 0;

  Tensor forward(const Tensor& input1, const Tensor& input2);
  Item forward_with(const Arguments& arguments) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 private:
  using Module::forward;
  bool has_bias_ = true;
};

/// Returns its input and ignores other arguments.
class Identity : public Layer<Identity> {
 public:
  static constexpr const char* kName = "Identity";
  Tensor forward(const Tensor& input) override { return input; }
  Item forward_with(const Arguments& arguments) override;
};

/// Merges the dimensions from start_dim to end_dim into one.
class Flatten : public Layer<Flatten> {
 public:
  static constexpr const char* kName = "Flatten";
  explicit Flatten(int64_t start_dim = 1, int64_t end_dim = -1) : start_dim(start_dim), end_dim(end_dim) {}
  int64_t start_dim;
  int64_t end_dim;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};

/// Splits one dimension into several.
class Unflatten : public Layer<Unflatten> {
 public:
  static constexpr const char* kName = "Unflatten";
  Unflatten() = default;
  Unflatten(int64_t dim, Shape unflattened_size) : dim(dim), unflattened_size(std::move(unflattened_size)) {}
  int64_t dim = 0;
  Shape unflattened_size;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
