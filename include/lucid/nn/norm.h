#pragma once

#include "lucid/nn/op_module.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Normalizes the last dimensions to mean 0 and variance 1, then multiplies by weight and adds bias.
class LayerNorm : public Layer<LayerNorm> {
 public:
  static constexpr const char* kName = "LayerNorm";
  LayerNorm() = default;
  explicit LayerNorm(Shape normalized_shape, double eps = 1e-5, bool elementwise_affine = true, bool bias = true,
                     std::optional<Dtype> dtype = std::nullopt);
  Shape normalized_shape;
  double eps = 1e-5;
  bool elementwise_affine = true;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 private:
  bool has_bias_ = true;
};

/// Divides x by the root mean square over the last dimensions, then multiplies by weight.
class RMSNorm : public Layer<RMSNorm> {
 public:
  static constexpr const char* kName = "RMSNorm";
  RMSNorm() = default;
  explicit RMSNorm(Shape normalized_shape, std::optional<double> eps = std::nullopt, bool elementwise_affine = true,
                   std::optional<Dtype> dtype = std::nullopt);
  Shape normalized_shape;
  std::optional<double> eps;
  bool elementwise_affine = true;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Normalizes each group of channels to mean 0 and variance 1, then multiplies by weight and adds bias.
class GroupNorm : public Layer<GroupNorm> {
 public:
  static constexpr const char* kName = "GroupNorm";
  GroupNorm() = default;
  GroupNorm(int64_t num_groups, int64_t num_channels, double eps = 1e-5, bool affine = true,
            std::optional<Dtype> dtype = std::nullopt);
  int64_t num_groups = 1;
  int64_t num_channels = 0;
  double eps = 1e-5;
  bool affine = true;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
};

/// Divides x by (k + alpha * m) ** beta, where m is the mean of squares over `size` neighboring channels.
class LocalResponseNorm : public OpLayer<LocalResponseNorm> {
 public:
  static constexpr const char* kName = "LocalResponseNorm";
  static constexpr const char* kOp = "local_response_norm";
  static Settings defaults() { return {{"size", 1}, {"alpha", 1e-4}, {"beta", 0.75}, {"k", 1.0}}; }
  using OpLayer::OpLayer;
  std::string extra_repr() const override;
};

/// Options of batch and instance norms.
struct StatisticsOptions {
  double eps = 1e-5;
  /// Weight of each batch in the running statistics. None means the average over all batches.
  std::optional<double> momentum = 0.1;
  bool affine = true;
  bool track_running_stats = true;
  std::optional<Dtype> dtype = std::nullopt;
};

/// Base of batch and instance norms: keeps running statistics, which are used in evaluation mode.
class StatisticsNorm : public Module {
 public:
  int64_t num_features = 0;
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;
  bool affine = true;
  bool track_running_stats = true;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;
  void reset_running_stats();

 protected:
  void configure(int64_t features, const StatisticsOptions& options);
  void check_rank(const Tensor& input, std::initializer_list<int64_t> ranks) const;
  virtual bool counts_batches() const { return false; }
  /// Applies the op and updates the running statistics from its results.
  template <typename Op>
  Tensor normalized(const Op& op, bool from_input, const Tensor& input);
};

/// Normalizes each channel over the batch to mean 0 and variance 1. spatial() dimensions follow the channels.
class BatchNorm : public StatisticsNorm {
 public:
  Tensor forward(const Tensor& input) override;

 protected:
  bool counts_batches() const override { return true; }
  virtual int64_t spatial() const = 0;
};

class BatchNorm1d : public Layer<BatchNorm1d, BatchNorm> {
 public:
  static constexpr const char* kName = "BatchNorm1d";
  BatchNorm1d() = default;
  explicit BatchNorm1d(int64_t num_features, const StatisticsOptions& options = {}) {
    configure(num_features, options);
  }

 protected:
  int64_t spatial() const override { return 1; }
};
class BatchNorm2d : public Layer<BatchNorm2d, BatchNorm> {
 public:
  static constexpr const char* kName = "BatchNorm2d";
  BatchNorm2d() = default;
  explicit BatchNorm2d(int64_t num_features, const StatisticsOptions& options = {}) {
    configure(num_features, options);
  }

 protected:
  int64_t spatial() const override { return 2; }
};
class BatchNorm3d : public Layer<BatchNorm3d, BatchNorm> {
 public:
  static constexpr const char* kName = "BatchNorm3d";
  BatchNorm3d() = default;
  explicit BatchNorm3d(int64_t num_features, const StatisticsOptions& options = {}) {
    configure(num_features, options);
  }

 protected:
  int64_t spatial() const override { return 3; }
};

/// Normalizes each channel of each sample to mean 0 and variance 1.
class InstanceNorm : public StatisticsNorm {
 public:
  InstanceNorm() { affine = track_running_stats = false; }
  Tensor forward(const Tensor& input) override;

 protected:
  virtual int64_t spatial() const = 0;
};

class InstanceNorm1d : public Layer<InstanceNorm1d, InstanceNorm> {
 public:
  static constexpr const char* kName = "InstanceNorm1d";
  InstanceNorm1d() = default;
  explicit InstanceNorm1d(int64_t num_features,
                          const StatisticsOptions& options = {.affine = false, .track_running_stats = false}) {
    configure(num_features, options);
  }

 protected:
  int64_t spatial() const override { return 1; }
};
class InstanceNorm2d : public Layer<InstanceNorm2d, InstanceNorm> {
 public:
  static constexpr const char* kName = "InstanceNorm2d";
  InstanceNorm2d() = default;
  explicit InstanceNorm2d(int64_t num_features,
                          const StatisticsOptions& options = {.affine = false, .track_running_stats = false}) {
    configure(num_features, options);
  }

 protected:
  int64_t spatial() const override { return 2; }
};
class InstanceNorm3d : public Layer<InstanceNorm3d, InstanceNorm> {
 public:
  static constexpr const char* kName = "InstanceNorm3d";
  InstanceNorm3d() = default;
  explicit InstanceNorm3d(int64_t num_features,
                          const StatisticsOptions& options = {.affine = false, .track_running_stats = false}) {
    configure(num_features, options);
  }

 protected:
  int64_t spatial() const override { return 3; }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
