#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of Linear.
struct LinearOptions {
  int64_t in_features = 0;
  int64_t out_features = 0;
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;
};

/// x @ weight.T + bias.
class Linear : public Layer<Linear> {
 public:
  static constexpr const char* kName = "Linear";
  using Options = LinearOptions;
  Linear() = default;
  explicit Linear(const Options& options) : options(options) { build(options.dtype); }
  Options options;

  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  /// Samples weight and bias uniformly from +-1 / sqrt(in_features).
  void reset_parameters() override;
};

/// Options of LazyLinear.
struct LazyLinearOptions {
  int64_t out_features = 0;
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;
};

/// A Linear whose in_features is determined by the first input.
class LazyLinear : public Layer<LazyLinear, Linear> {
 public:
  static constexpr const char* kName = "LazyLinear";
  using Options = LazyLinearOptions;
  LazyLinear() = default;
  explicit LazyLinear(const Options& given) {
    options.out_features = given.out_features;
    options.bias = given.bias;
    options.dtype = given.dtype;
    build(options.dtype);
  }

  Tensor forward(const Tensor& input) override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 private:
  /// Allocates and initializes the parameters for inputs of this size.
  void materialize(int64_t features);
};

/// Options of Bilinear.
struct BilinearOptions {
  int64_t in1_features = 0;
  int64_t in2_features = 0;
  int64_t out_features = 0;
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;
};

/// x1 @ weight[o] @ x2 + bias[o].
class Bilinear : public Layer<Bilinear> {
 public:
  static constexpr const char* kName = "Bilinear";
  using Options = BilinearOptions;
  Bilinear() = default;
  explicit Bilinear(const Options& options) : options(options) { build(options.dtype); }
  Options options;

  Tensor forward(const Tensor& input1, const Tensor& input2);
  Item forward_with(const Arguments& arguments) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
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
  Item forward_with(const Arguments& arguments) override;
};

/// Options of Flatten.
struct FlattenOptions {
  int64_t start_dim = 1;
  int64_t end_dim = -1;
};

/// Merges the dimensions from start_dim to end_dim into one.
class Flatten : public Layer<Flatten> {
 public:
  static constexpr const char* kName = "Flatten";
  using Options = FlattenOptions;
  Flatten() = default;
  explicit Flatten(const Options& options) : options(options) {}
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};

/// Options of Unflatten.
struct UnflattenOptions {
  int64_t dim = 0;
  Sizes unflattened_size = {};
};

/// Splits one dimension into several.
class Unflatten : public Layer<Unflatten> {
 public:
  static constexpr const char* kName = "Unflatten";
  using Options = UnflattenOptions;
  Unflatten() = default;
  explicit Unflatten(Options options) : options(std::move(options)) {}
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
