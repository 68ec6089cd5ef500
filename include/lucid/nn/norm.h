#pragma once

#include "lucid/nn/op_module.h"
#include "lucid/nn/options/norm.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Normalizes the last dimensions to mean 0 and variance 1, then multiplies by weight and adds bias.
class LayerNorm : public OptionsLayer<LayerNorm, LayerNormOptions> {
 public:
  static constexpr const char* kName = "LayerNorm";
  static constexpr const char* kSignature =
      "(normalized_shape: ints, eps: float = 1e-5, elementwise_affine: bool = True, _bias: bool = True, "
      "dtype: dtype? = None)";
  LayerNorm() = default;
  explicit LayerNorm(Options given) : OptionsLayer(std::move(given)) { build(options.dtype); }
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Divides x by the root mean square over the last dimensions, then multiplies by weight.
class RMSNorm : public OptionsLayer<RMSNorm, RMSNormOptions> {
 public:
  static constexpr const char* kName = "RMSNorm";
  static constexpr const char* kSignature =
      "(normalized_shape: ints, eps: float? = None, elementwise_affine: bool = True, dtype: dtype? = None)";
  RMSNorm() = default;
  explicit RMSNorm(Options given) : OptionsLayer(std::move(given)) { build(options.dtype); }
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Normalizes each group of channels to mean 0 and variance 1, then multiplies by weight and adds bias.
class GroupNorm : public OptionsLayer<GroupNorm, GroupNormOptions> {
 public:
  static constexpr const char* kName = "GroupNorm";
  static constexpr const char* kSignature =
      "(num_groups: int! = 1, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: dtype? = None)";
  GroupNorm() = default;
  explicit GroupNorm(Options given) : OptionsLayer(std::move(given)) { build(options.dtype); }
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Divides x by (k + alpha * m) ** beta, where m is the mean of squares over `size` neighboring channels.
class LocalResponseNorm : public OpLayer<LocalResponseNorm, LocalResponseNormOptions> {
 public:
  static constexpr const char* kName = "LocalResponseNorm";
  static constexpr const char* kSignature = "(size: int! = 1, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0)";
  static constexpr const char* kOp = "local_response_norm";
  using OpLayer::OpLayer;
  std::string extra_repr() const override;
};

/// Base of batch and instance norms: keeps running statistics, which are used in evaluation mode.
class StatisticsNorm : public Module {
 public:
  BatchNormOptions options;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
  void reset_running_stats();

 protected:
  void check_rank(const Tensor& input, std::initializer_list<int64_t> ranks) const;
  virtual bool counts_batches() const { return false; }
  /// Applies the op and updates the running statistics from its results.
  template <typename Op>
  Tensor normalized(const Op& op, bool from_input, const Tensor& input);
};

/// Normalizes each channel over the batch to mean 0 and variance 1. spatial() dimensions follow the channels.
class BatchNorm : public StatisticsNorm {
 public:
  using Options = BatchNormOptions;
  Tensor forward(const Tensor& input) override;

 protected:
  bool counts_batches() const override { return true; }
  virtual int64_t spatial() const = 0;
};

class BatchNorm1d : public Layer<BatchNorm1d, BatchNorm> {
 public:
  static constexpr const char* kName = "BatchNorm1d";
  static constexpr const char* kSignature =
      "(num_features: int, eps: float = 1e-5, momentum: float? = 0.1, affine: bool = True, "
      "track_running_stats: bool = True, dtype: dtype? = None)";
  BatchNorm1d() = default;
  explicit BatchNorm1d(const Options& given) {
    options = given;
    build(options.dtype);
  }

 protected:
  int64_t spatial() const override { return 1; }
};
class BatchNorm2d : public Layer<BatchNorm2d, BatchNorm> {
 public:
  static constexpr const char* kName = "BatchNorm2d";
  static constexpr const char* kSignature = BatchNorm1d::kSignature;
  BatchNorm2d() = default;
  explicit BatchNorm2d(const Options& given) {
    options = given;
    build(options.dtype);
  }

 protected:
  int64_t spatial() const override { return 2; }
};
class BatchNorm3d : public Layer<BatchNorm3d, BatchNorm> {
 public:
  static constexpr const char* kName = "BatchNorm3d";
  static constexpr const char* kSignature = BatchNorm1d::kSignature;
  BatchNorm3d() = default;
  explicit BatchNorm3d(const Options& given) {
    options = given;
    build(options.dtype);
  }

 protected:
  int64_t spatial() const override { return 3; }
};

/// Normalizes each channel of each sample to mean 0 and variance 1.
class InstanceNorm : public StatisticsNorm {
 public:
  using Options = InstanceNormOptions;
  InstanceNorm() { set_options({}); }
  Tensor forward(const Tensor& input) override;

 protected:
  void set_options(const Options& given) {
    options = {given.num_features, given.eps, given.momentum, given.affine, given.track_running_stats, given.dtype};
  }
  virtual int64_t spatial() const = 0;
};

class InstanceNorm1d : public Layer<InstanceNorm1d, InstanceNorm> {
 public:
  static constexpr const char* kName = "InstanceNorm1d";
  static constexpr const char* kSignature =
      "(num_features: int, eps: float = 1e-5, momentum: float? = 0.1, affine: bool = False, "
      "track_running_stats: bool = False, dtype: dtype? = None)";
  InstanceNorm1d() = default;
  explicit InstanceNorm1d(const Options& given) {
    set_options(given);
    build(options.dtype);
  }

 protected:
  int64_t spatial() const override { return 1; }
};
class InstanceNorm2d : public Layer<InstanceNorm2d, InstanceNorm> {
 public:
  static constexpr const char* kName = "InstanceNorm2d";
  static constexpr const char* kSignature = InstanceNorm1d::kSignature;
  InstanceNorm2d() = default;
  explicit InstanceNorm2d(const Options& given) {
    set_options(given);
    build(options.dtype);
  }

 protected:
  int64_t spatial() const override { return 2; }
};
class InstanceNorm3d : public Layer<InstanceNorm3d, InstanceNorm> {
 public:
  static constexpr const char* kName = "InstanceNorm3d";
  static constexpr const char* kSignature = InstanceNorm1d::kSignature;
  InstanceNorm3d() = default;
  explicit InstanceNorm3d(const Options& given) {
    set_options(given);
    build(options.dtype);
  }

 protected:
  int64_t spatial() const override { return 3; }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
