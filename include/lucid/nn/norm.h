#pragma once

#include "lucid/nn/op_module.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of LayerNorm.
struct LayerNormOptions {
  /// The sizes of the last dimensions.
  Sizes normalized_shape = {};
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
  std::optional<Dtype> dtype = std::nullopt;
};

/// Normalizes the last dimensions to mean 0 and variance 1, then multiplies by weight and adds bias.
class LayerNorm : public Layer<LayerNorm> {
 public:
  static constexpr const char* kName = "LayerNorm";
  using Options = LayerNormOptions;
  LayerNorm() = default;
  explicit LayerNorm(Options given) : options(std::move(given)) { build(options.dtype); }
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Options of RMSNorm.
struct RMSNormOptions {
  /// The sizes of the last dimensions.
  Sizes normalized_shape = {};
  /// The machine epsilon of the input's dtype by default.
  std::optional<double> eps = std::nullopt;
  bool elementwise_affine = true;
  std::optional<Dtype> dtype = std::nullopt;
};

/// Divides x by the root mean square over the last dimensions, then multiplies by weight.
class RMSNorm : public Layer<RMSNorm> {
 public:
  static constexpr const char* kName = "RMSNorm";
  using Options = RMSNormOptions;
  RMSNorm() = default;
  explicit RMSNorm(Options given) : options(std::move(given)) { build(options.dtype); }
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Options of GroupNorm.
struct GroupNormOptions {
  int64_t num_groups = 1;
  int64_t num_channels = 0;
  double eps = 1e-5;
  bool affine = true;
  std::optional<Dtype> dtype = std::nullopt;
};

/// Normalizes each group of channels to mean 0 and variance 1, then multiplies by weight and adds bias.
class GroupNorm : public Layer<GroupNorm> {
 public:
  static constexpr const char* kName = "GroupNorm";
  using Options = GroupNormOptions;
  GroupNorm() = default;
  explicit GroupNorm(const Options& options) : options(options) { build(options.dtype); }
  Options options;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Options of LocalResponseNorm.
struct LocalResponseNormOptions {
  int64_t size = 1;
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1.0;

  void fields(auto& visit) {
    visit("size", size);
    visit("alpha", alpha);
    visit("beta", beta);
    visit("k", k);
  }
};

/// Divides x by (k + alpha * m) ** beta, where m is the mean of squares over `size` neighboring channels.
class LocalResponseNorm : public OpLayer<LocalResponseNorm, LocalResponseNormOptions> {
 public:
  static constexpr const char* kName = "LocalResponseNorm";
  static constexpr const char* kOp = "local_response_norm";
  using OpLayer::OpLayer;
  std::string extra_repr() const override;
};

/// Options of batch norms.
struct BatchNormOptions {
  int64_t num_features = 0;
  double eps = 1e-5;
  /// Weight of each batch in the running statistics. None means the average over all batches.
  std::optional<double> momentum = 0.1;
  bool affine = true;
  bool track_running_stats = true;
  std::optional<Dtype> dtype = std::nullopt;
};

/// Options of instance norms; see BatchNormOptions.
struct InstanceNormOptions {
  int64_t num_features = 0;
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;
  bool affine = false;
  bool track_running_stats = false;
  std::optional<Dtype> dtype = std::nullopt;
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
