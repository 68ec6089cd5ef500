// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of ZeroPad1d, ZeroPad2d, ZeroPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d, ReflectionPad1d,
/// ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d, CircularPad1d, CircularPad2d
/// and CircularPad3d.
struct PadOptions {
  Sizes padding = {};
  double value = 0.0;

  void fields(auto& visit) {
    visit("padding", padding);
    visit("value", value);
  }
};

/// Options of Upsample.
struct UpsampleOptions {
  /// Size of the output.
  Setting size = kNone;
  /// Output size divided by input size, if `size` is not given.
  Setting scale_factor = kNone;
  /// 'nearest', 'nearest-exact', 'linear', 'bilinear', 'bicubic', 'trilinear' or 'area'.
  std::string mode = "nearest";
  /// Whether the corner pixels of input and output are aligned (linear and cubic modes).
  std::optional<bool> align_corners = std::nullopt;

  void fields(auto& visit) {
    visit("size", size);
    visit("scale_factor", scale_factor);
    visit("mode", mode);
    visit("align_corners", align_corners);
  }
};

/// Options of PixelShuffle.
struct PixelShuffleOptions {
  int64_t upscale_factor = 1;

  void fields(auto& visit) {
    visit("upscale_factor", upscale_factor);
  }
};

/// Options of PixelUnshuffle.
struct PixelUnshuffleOptions {
  int64_t downscale_factor = 1;

  void fields(auto& visit) {
    visit("downscale_factor", downscale_factor);
  }
};

/// Options of ChannelShuffle.
struct ChannelShuffleOptions {
  int64_t groups = 1;

  void fields(auto& visit) {
    visit("groups", groups);
  }
};

/// Options of Unfold.
struct UnfoldOptions {
  Setting kernel_size = 1;
  Setting dilation = 1;
  Setting padding = 0;
  Setting stride = 1;

  void fields(auto& visit) {
    visit("kernel_size", kernel_size);
    visit("dilation", dilation);
    visit("padding", padding);
    visit("stride", stride);
  }
};

/// Options of Fold.
struct FoldOptions {
  Setting output_size = 1;
  Setting kernel_size = 1;
  Setting dilation = 1;
  Setting padding = 0;
  Setting stride = 1;

  void fields(auto& visit) {
    visit("output_size", output_size);
    visit("kernel_size", kernel_size);
    visit("dilation", dilation);
    visit("padding", padding);
    visit("stride", stride);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
