#pragma once

#include "lucid/nn/op_module.h"
#include "lucid/nn/options/pool.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// The largest element of each window and, with the setting return_indices, its position.
class MaxPool : public OpModule {
 public:
  using OpModule::OpModule;
  Tensor forward(const Tensor& input) override;
  Tree forward_with(const Arguments& arguments) override;
  bool returns_one_tensor() const override { return !setting("return_indices").as_bool(); }
  std::string extra_repr() const override;
};

/// The mean of each window.
class AvgPool : public OpModule {
 public:
  using OpModule::OpModule;
  std::string extra_repr() const override;
};

/// Pools with windows chosen so that the result has the size output_size. None keeps the size of a dimension.
class AdaptivePool : public OpModule {
 public:
  using OpModule::OpModule;
  Tensor forward(const Tensor& input) override;
  Tree forward_with(const Arguments& arguments) override;
  bool returns_one_tensor() const override { return !setting("return_indices").as_bool(); }
  std::string extra_repr() const override;
  void build(std::optional<Dtype>) override {}

 protected:
  std::vector<Tensor> pooled(const Tensor& input);
};

/// The p-norm of each window, where p is the setting norm_type.
class LPPool : public OpModule {
 public:
  using OpModule::OpModule;
};

/// The partial inverse of MaxPool, from its result and the indices. Other elements are zero.
class MaxUnpool : public OpModule {
 public:
  using OpModule::OpModule;
  Tree forward_with(const Arguments& arguments) override;
};

class MaxPool1d : public OpLayer<MaxPool1d, MaxPoolOptions, MaxPool> {
 public:
  static constexpr const char* kName = "MaxPool1d";
  static constexpr const char* kSignature =
      "(kernel_size: sizes! = 1, stride: sizes? = kernel_size, padding: sizes = 0, dilation: sizes = 1, "
      "return_indices: bool = False, ceil_mode: bool = False)";
  static constexpr const char* kOp = "max_pool1d";
  using OpLayer::OpLayer;
};
class MaxPool2d : public OpLayer<MaxPool2d, MaxPoolOptions, MaxPool> {
 public:
  static constexpr const char* kName = "MaxPool2d";
  static constexpr const char* kSignature = MaxPool1d::kSignature;
  static constexpr const char* kOp = "max_pool2d";
  using OpLayer::OpLayer;
};
class MaxPool3d : public OpLayer<MaxPool3d, MaxPoolOptions, MaxPool> {
 public:
  static constexpr const char* kName = "MaxPool3d";
  static constexpr const char* kSignature = MaxPool1d::kSignature;
  static constexpr const char* kOp = "max_pool3d";
  using OpLayer::OpLayer;
};

class AvgPool1d : public OpLayer<AvgPool1d, AvgPoolOptions, AvgPool> {
 public:
  static constexpr const char* kName = "AvgPool1d";
  static constexpr const char* kSignature =
      "(kernel_size: sizes! = 1, stride: sizes? = kernel_size, padding: sizes = 0, ceil_mode: bool = False, "
      "count_include_pad: bool = True, cpp divisor_override: int? = None)";
  static constexpr const char* kOp = "avg_pool1d";
  using OpLayer::OpLayer;
};
class AvgPool2d : public OpLayer<AvgPool2d, AvgPoolOptions, AvgPool> {
 public:
  static constexpr const char* kName = "AvgPool2d";
  static constexpr const char* kSignature =
      "(kernel_size: sizes! = 1, stride: sizes? = kernel_size, padding: sizes = 0, ceil_mode: bool = False, "
      "count_include_pad: bool = True, divisor_override: int? = None)";
  static constexpr const char* kOp = "avg_pool2d";
  using OpLayer::OpLayer;
};
class AvgPool3d : public OpLayer<AvgPool3d, AvgPoolOptions, AvgPool> {
 public:
  static constexpr const char* kName = "AvgPool3d";
  static constexpr const char* kSignature = AvgPool2d::kSignature;
  static constexpr const char* kOp = "avg_pool3d";
  using OpLayer::OpLayer;
};

class AdaptiveAvgPool1d : public OpLayer<AdaptiveAvgPool1d, AdaptivePoolOptions, AdaptivePool> {
 public:
  static constexpr const char* kName = "AdaptiveAvgPool1d";
  static constexpr const char* kSignature = "(output_size: open_sizes! = 1, cpp return_indices: bool = False)";
  static constexpr const char* kOp = "adaptive_avg_pool1d";
  using OpLayer::OpLayer;
};
class AdaptiveAvgPool2d : public OpLayer<AdaptiveAvgPool2d, AdaptivePoolOptions, AdaptivePool> {
 public:
  static constexpr const char* kName = "AdaptiveAvgPool2d";
  static constexpr const char* kSignature = AdaptiveAvgPool1d::kSignature;
  static constexpr const char* kOp = "adaptive_avg_pool2d";
  using OpLayer::OpLayer;
};
class AdaptiveAvgPool3d : public OpLayer<AdaptiveAvgPool3d, AdaptivePoolOptions, AdaptivePool> {
 public:
  static constexpr const char* kName = "AdaptiveAvgPool3d";
  static constexpr const char* kSignature = AdaptiveAvgPool1d::kSignature;
  static constexpr const char* kOp = "adaptive_avg_pool3d";
  using OpLayer::OpLayer;
};
class AdaptiveMaxPool1d : public OpLayer<AdaptiveMaxPool1d, AdaptivePoolOptions, AdaptivePool> {
 public:
  static constexpr const char* kName = "AdaptiveMaxPool1d";
  static constexpr const char* kSignature = "(output_size: open_sizes! = 1, return_indices: bool = False)";
  static constexpr const char* kOp = "adaptive_max_pool1d_with_indices";
  using OpLayer::OpLayer;
};
class AdaptiveMaxPool2d : public OpLayer<AdaptiveMaxPool2d, AdaptivePoolOptions, AdaptivePool> {
 public:
  static constexpr const char* kName = "AdaptiveMaxPool2d";
  static constexpr const char* kSignature = AdaptiveMaxPool1d::kSignature;
  static constexpr const char* kOp = "adaptive_max_pool2d_with_indices";
  using OpLayer::OpLayer;
};
class AdaptiveMaxPool3d : public OpLayer<AdaptiveMaxPool3d, AdaptivePoolOptions, AdaptivePool> {
 public:
  static constexpr const char* kName = "AdaptiveMaxPool3d";
  static constexpr const char* kSignature = AdaptiveMaxPool1d::kSignature;
  static constexpr const char* kOp = "adaptive_max_pool3d_with_indices";
  using OpLayer::OpLayer;
};

class LPPool1d : public OpLayer<LPPool1d, LPPoolOptions, LPPool> {
 public:
  static constexpr const char* kName = "LPPool1d";
  static constexpr const char* kSignature =
      "(norm_type: float! = 2.0, kernel_size: sizes! = 1, stride: sizes? = None, ceil_mode: bool = False)";
  static constexpr const char* kOp = "lp_pool1d";
  using OpLayer::OpLayer;
};
class LPPool2d : public OpLayer<LPPool2d, LPPoolOptions, LPPool> {
 public:
  static constexpr const char* kName = "LPPool2d";
  static constexpr const char* kSignature = LPPool1d::kSignature;
  static constexpr const char* kOp = "lp_pool2d";
  using OpLayer::OpLayer;
};
class LPPool3d : public OpLayer<LPPool3d, LPPoolOptions, LPPool> {
 public:
  static constexpr const char* kName = "LPPool3d";
  static constexpr const char* kSignature = LPPool1d::kSignature;
  static constexpr const char* kOp = "lp_pool3d";
  using OpLayer::OpLayer;
};
class MaxUnpool1d : public OpLayer<MaxUnpool1d, MaxUnpoolOptions, MaxUnpool> {
 public:
  static constexpr const char* kName = "MaxUnpool1d";
  static constexpr const char* kSignature =
      "(kernel_size: sizes! = 1, stride: sizes? = kernel_size, padding: sizes = 0)";
  static constexpr const char* kOp = "max_unpool1d";
  using OpLayer::OpLayer;
};
class MaxUnpool2d : public OpLayer<MaxUnpool2d, MaxUnpoolOptions, MaxUnpool> {
 public:
  static constexpr const char* kName = "MaxUnpool2d";
  static constexpr const char* kSignature = MaxUnpool1d::kSignature;
  static constexpr const char* kOp = "max_unpool2d";
  using OpLayer::OpLayer;
};
class MaxUnpool3d : public OpLayer<MaxUnpool3d, MaxUnpoolOptions, MaxUnpool> {
 public:
  static constexpr const char* kName = "MaxUnpool3d";
  static constexpr const char* kSignature = MaxUnpool1d::kSignature;
  static constexpr const char* kOp = "max_unpool3d";
  using OpLayer::OpLayer;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
