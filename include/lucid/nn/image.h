#pragma once

#include "lucid/nn/op_module.h"
#include "lucid/nn/options/image.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Pads the last dimensions.
class Pad : public Module {
 public:
  PadOptions options;
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
  using Options = PadOptions;
  PadLayer() = default;
  explicit PadLayer(Options options) {
    this->options = std::move(options);
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
  static constexpr const char* kSignature = "(padding: ints, cpp value: float = 0.0)";
  static constexpr int64_t kSpatial = 1;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ZeroPad2d : public PadLayer<ZeroPad2d> {
 public:
  static constexpr const char* kName = "ZeroPad2d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 2;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ZeroPad3d : public PadLayer<ZeroPad3d> {
 public:
  static constexpr const char* kName = "ZeroPad3d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 3;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ConstantPad1d : public PadLayer<ConstantPad1d> {
 public:
  static constexpr const char* kName = "ConstantPad1d";
  static constexpr const char* kSignature = "(padding: ints, value: float! = 0.0)";
  static constexpr int64_t kSpatial = 1;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = true;
  using PadLayer::PadLayer;
};
class ConstantPad2d : public PadLayer<ConstantPad2d> {
 public:
  static constexpr const char* kName = "ConstantPad2d";
  static constexpr const char* kSignature = ConstantPad1d::kSignature;
  static constexpr int64_t kSpatial = 2;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = true;
  using PadLayer::PadLayer;
};
class ConstantPad3d : public PadLayer<ConstantPad3d> {
 public:
  static constexpr const char* kName = "ConstantPad3d";
  static constexpr const char* kSignature = ConstantPad1d::kSignature;
  static constexpr int64_t kSpatial = 3;
  static constexpr const char* kMode = "constant";
  static constexpr bool kHasValue = true;
  using PadLayer::PadLayer;
};
class ReflectionPad1d : public PadLayer<ReflectionPad1d> {
 public:
  static constexpr const char* kName = "ReflectionPad1d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 1;
  static constexpr const char* kMode = "reflect";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ReflectionPad2d : public PadLayer<ReflectionPad2d> {
 public:
  static constexpr const char* kName = "ReflectionPad2d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 2;
  static constexpr const char* kMode = "reflect";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ReflectionPad3d : public PadLayer<ReflectionPad3d> {
 public:
  static constexpr const char* kName = "ReflectionPad3d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 3;
  static constexpr const char* kMode = "reflect";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ReplicationPad1d : public PadLayer<ReplicationPad1d> {
 public:
  static constexpr const char* kName = "ReplicationPad1d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 1;
  static constexpr const char* kMode = "replicate";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ReplicationPad2d : public PadLayer<ReplicationPad2d> {
 public:
  static constexpr const char* kName = "ReplicationPad2d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 2;
  static constexpr const char* kMode = "replicate";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class ReplicationPad3d : public PadLayer<ReplicationPad3d> {
 public:
  static constexpr const char* kName = "ReplicationPad3d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 3;
  static constexpr const char* kMode = "replicate";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class CircularPad1d : public PadLayer<CircularPad1d> {
 public:
  static constexpr const char* kName = "CircularPad1d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 1;
  static constexpr const char* kMode = "circular";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class CircularPad2d : public PadLayer<CircularPad2d> {
 public:
  static constexpr const char* kName = "CircularPad2d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 2;
  static constexpr const char* kMode = "circular";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};
class CircularPad3d : public PadLayer<CircularPad3d> {
 public:
  static constexpr const char* kName = "CircularPad3d";
  static constexpr const char* kSignature = ZeroPad1d::kSignature;
  static constexpr int64_t kSpatial = 3;
  static constexpr const char* kMode = "circular";
  static constexpr bool kHasValue = false;
  using PadLayer::PadLayer;
};

/// Resizes the input.
class Upsample : public OptionsLayer<Upsample, UpsampleOptions> {
 public:
  static constexpr const char* kName = "Upsample";
  static constexpr const char* kSignature =
      "(size: sizes? = None, scale_factor: factors? = None, mode: str = 'nearest', align_corners: bool? = None, "
      "python recompute_scale_factor: bool? = None)";
  using OptionsLayer::OptionsLayer;
  Tensor forward(const Tensor& input) override;
  std::string extra_repr() const override;
};

/// Rearranges (..., channels * r * r, height, width) to (..., channels, height * r, width * r).
class PixelShuffle : public OpLayer<PixelShuffle, PixelShuffleOptions> {
 public:
  static constexpr const char* kName = "PixelShuffle";
  static constexpr const char* kSignature = "(upscale_factor: int! = 1)";
  static constexpr const char* kOp = "pixel_shuffle";
  using OpLayer::OpLayer;
};
/// The inverse of PixelShuffle.
class PixelUnshuffle : public OpLayer<PixelUnshuffle, PixelUnshuffleOptions> {
 public:
  static constexpr const char* kName = "PixelUnshuffle";
  static constexpr const char* kSignature = "(downscale_factor: int! = 1)";
  static constexpr const char* kOp = "pixel_unshuffle";
  using OpLayer::OpLayer;
};
/// Interleaves the channels of `groups` groups.
class ChannelShuffle : public OpLayer<ChannelShuffle, ChannelShuffleOptions> {
 public:
  static constexpr const char* kName = "ChannelShuffle";
  static constexpr const char* kSignature = "(groups: int! = 1)";
  static constexpr const char* kOp = "channel_shuffle";
  using OpLayer::OpLayer;
};
/// Extracts sliding windows of images as columns.
class Unfold : public OpLayer<Unfold, UnfoldOptions> {
 public:
  static constexpr const char* kName = "Unfold";
  static constexpr const char* kSignature =
      "(kernel_size: sizes! = 1, dilation: sizes = 1, padding: sizes = 0, stride: sizes = 1)";
  static constexpr const char* kOp = "unfold";
  using OpLayer::OpLayer;
};
/// Combines columns into images. Overlapping windows are added.
class Fold : public OpLayer<Fold, FoldOptions> {
 public:
  static constexpr const char* kName = "Fold";
  static constexpr const char* kSignature =
      "(output_size: sizes! = 1, kernel_size: sizes! = 1, dilation: sizes = 1, padding: sizes = 0, "
      "stride: sizes = 1)";
  static constexpr const char* kOp = "fold";
  using OpLayer::OpLayer;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
