// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of Conv1d, Conv2d and Conv3d.
struct ConvOptions {
  /// Number of channels of the input.
  int64_t in_channels = 0;
  /// Number of channels of the output.
  int64_t out_channels = 0;
  /// Size of the kernel: one number, or one per dimension.
  Sizes kernel_size = {};
  /// Step between windows.
  Sizes stride = 1;
  /// Padding on both sides: numbers, 'same' (stride 1 only) or 'valid' (none).
  Setting padding = 0;
  /// Distance between kernel elements.
  Sizes dilation = 1;
  /// Number of groups of channels that are convolved separately.
  int64_t groups = 1;
  /// Whether to add a bias per output channel.
  bool bias = true;
  /// 'zeros', 'reflect', 'replicate' or 'circular'.
  std::string padding_mode = "zeros";
  std::optional<Dtype> dtype = std::nullopt;
  Sizes output_padding = 0;

  void fields(auto& visit) {
    visit("in_channels", in_channels);
    visit("out_channels", out_channels);
    visit("kernel_size", kernel_size);
    visit("stride", stride);
    visit("padding", padding);
    visit("dilation", dilation);
    visit("groups", groups);
    visit("_bias", bias);
    visit("padding_mode", padding_mode);
    visit("output_padding", output_padding);
  }
};

/// Options of ConvTranspose1d, ConvTranspose2d and ConvTranspose3d.
struct ConvTransposeOptions {
  /// Number of channels of the input.
  int64_t in_channels = 0;
  /// Number of channels of the output.
  int64_t out_channels = 0;
  /// Size of the kernel: one number, or one per dimension.
  Sizes kernel_size = {};
  /// Step between windows.
  Sizes stride = 1;
  /// Padding on both sides: numbers, 'same' (stride 1 only) or 'valid' (none).
  Sizes padding = 0;
  Sizes output_padding = 0;
  /// Number of groups of channels that are convolved separately.
  int64_t groups = 1;
  /// Whether to add a bias per output channel.
  bool bias = true;
  /// Distance between kernel elements.
  Sizes dilation = 1;
  /// 'zeros', 'reflect', 'replicate' or 'circular'.
  std::string padding_mode = "zeros";
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("in_channels", in_channels);
    visit("out_channels", out_channels);
    visit("kernel_size", kernel_size);
    visit("stride", stride);
    visit("padding", padding);
    visit("output_padding", output_padding);
    visit("groups", groups);
    visit("_bias", bias);
    visit("dilation", dilation);
    visit("padding_mode", padding_mode);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
