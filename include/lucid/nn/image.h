#pragma once

#include "lucid/nn/op_module.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Pads the last dimensions. `padding` holds the sizes to add before and after each dimension, last dimension first.
class Pad : public Module {
 public:
  Shape padding;
  double value = 0;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype>) override;

 protected:
  virtual int64_t spatial() const = 0;
  virtual const char* mode() const = 0;
  virtual bool has_value() const { return false; }
};

template <typename Self>
class PadLayer : public Layer<Self, Pad> {
 public:
  PadLayer() = default;
  explicit PadLayer(Shape padding, double value = 0) {
    this->padding = std::move(padding);
    this->value = value;
    this->build(std::nullopt);
  }

 protected:
  int64_t spatial() const override { return Self::kSpatial; }
  const char* mode() const override { return Self::kMode; }
  bool has_value() const override { return Self::kHasValue; }
};

class ZeroPad1d : public PadLayer<ZeroPad1d> {
 public:
  static constexpr const char* kName = "ZeroPad1d";
  static constexpr int64_t kSpatial = 1;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ZeroPad2d : public PadLayer<ZeroPad2d> {
 public:
  static constexpr const char* kName = "ZeroPad2d";
  static constexpr int64_t kSpatial = 2;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ZeroPad3d : public PadLayer<ZeroPad3d> {
 public:
  static constexpr const char* kName = "ZeroPad3d";
  static constexpr int64_t kSpatial = 3;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ConstantPad1d : public PadLayer<ConstantPad1d> {
 public:
  static constexpr const char* kName = "ConstantPad1d";
  static constexpr int64_t kSpatial = 1;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = true;
  using PadLayer::PadLayer;
};
class ConstantPad2d : public PadLayer<ConstantPad2d> {
 public:
  static constexpr const char* kName = "ConstantPad2d";
  static constexpr int64_t kSpatial = 2;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = true;
  using PadLayer::PadLayer;
};
class ConstantPad3d : public PadLayer<ConstantPad3d> {
 public:
  static constexpr const char* kName = "ConstantPad3d";
  static constexpr int64_t kSpatial = 3;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = true;
  using PadLayer::PadLayer;
};
class ReflectionPad1d : public PadLayer<ReflectionPad1d> {
 public:
  static constexpr const char* kName = "ReflectionPad1d";
  static constexpr int64_t kSpatial = 1;
  static constexpr const char* kMode = "reflect";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ReflectionPad2d : public PadLayer<ReflectionPad2d> {
 public:
  static constexpr const char* kName = "ReflectionPad2d";
  static constexpr int64_t kSpatial = 2;
  static constexpr const char* kMode = "reflect";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ReflectionPad3d : public PadLayer<ReflectionPad3d> {
 public:
  static constexpr const char* kName = "ReflectionPad3d";
  static constexpr int64_t kSpatial = 3;
  static constexpr const char* kMode = "reflect";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ReplicationPad1d : public PadLayer<ReplicationPad1d> {
 public:
  static constexpr const char* kName = "ReplicationPad1d";
  static constexpr int64_t kSpatial = 1;
  static constexpr const char* kMode = "replicate";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ReplicationPad2d : public PadLayer<ReplicationPad2d> {
 public:
  static constexpr const char* kName = "ReplicationPad2d";
  static constexpr int64_t kSpatial = 2;
  static constexpr const char* kMode = "replicate";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ReplicationPad3d : public PadLayer<ReplicationPad3d> {
 public:
  static constexpr const char* kName = "ReplicationPad3d";
  static constexpr int64_t kSpatial = 3;
  static constexpr const char* kMode = "replicate";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class CircularPad1d : public PadLayer<CircularPad1d> {
 public:
  static constexpr const char* kName = "CircularPad1d";
  static constexpr int64_t kSpatial = 1;
  static constexpr const char* kMode = "circular";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class CircularPad2d : public PadLayer<CircularPad2d> {
 public:
  static constexpr const char* kName = "CircularPad2d";
  static constexpr int64_t kSpatial = 2;
  static constexpr const char* kMode = "circular";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class CircularPad3d : public PadLayer<CircularPad3d> {
 public:
  static constexpr const char* kName = "CircularPad3d";
  static constexpr int64_t kSpatial = 3;
  static constexpr const char* kMode = "circular";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};

/// Resizes the input. Give either `size` or `scale_factor`.
class Upsample : public Layer<Upsample> {
 public:
  static constexpr const char* kName = "Upsample";
  Upsample() = default;
  explicit Upsample(Item size, Item scale_factor = Item(), std::string mode = "nearest", Item align_corners = Item())
      : size(std::move(size)),
        scale_factor(std::move(scale_factor)),
        mode(std::move(mode)),
        align_corners(std::move(align_corners)) {}
  Item size;
  Item scale_factor;
  std::string mode = "nearest";
  Item align_corners;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
};

/// Rearranges (..., channels * r * r, height, width) to (..., channels, height * r, width * r).
class PixelShuffle : public OpLayer<PixelShuffle> {
 public:
  static constexpr const char* kName = "PixelShuffle";
  static constexpr const char* kOp = "pixel_shuffle";
  static Settings defaults() { return {{"upscale_factor", 1}}; }
  using OpLayer::OpLayer;
};
/// The inverse of PixelShuffle.
class PixelUnshuffle : public OpLayer<PixelUnshuffle> {
 public:
  static constexpr const char* kName = "PixelUnshuffle";
  static constexpr const char* kOp = "pixel_unshuffle";
  static Settings defaults() { return {{"downscale_factor", 1}}; }
  using OpLayer::OpLayer;
};
/// Interleaves the channels of `groups` groups.
class ChannelShuffle : public OpLayer<ChannelShuffle> {
 public:
  static constexpr const char* kName = "ChannelShuffle";
  static constexpr const char* kOp = "channel_shuffle";
  static Settings defaults() { return {{"groups", 1}}; }
  using OpLayer::OpLayer;
};
/// Extracts sliding windows of images as columns.
class Unfold : public OpLayer<Unfold> {
 public:
  static constexpr const char* kName = "Unfold";
  static constexpr const char* kOp = "unfold";
  static Settings defaults() { return {{"kernel_size", 1}, {"dilation", 1}, {"padding", 0}, {"stride", 1}}; }
  using OpLayer::OpLayer;
};
/// Combines columns into images. Overlapping windows are added.
class Fold : public OpLayer<Fold> {
 public:
  static constexpr const char* kName = "Fold";
  static constexpr const char* kOp = "fold";
  static Settings defaults() {
    return {{"output_size", 1}, {"kernel_size", 1}, {"dilation", 1}, {"padding", 0}, {"stride", 1}};
  }
  using OpLayer::OpLayer;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
