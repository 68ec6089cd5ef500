// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of MaxPool1d, MaxPool2d and MaxPool3d.
struct MaxPoolOptions {
  /// Size of the window: one number, or one per dimension.
  Setting kernel_size = 1;
  /// Step between windows; `kernel_size` by default.
  Setting stride = kNone;
  /// Padding with -inf on both sides.
  Setting padding = 0;
  /// Distance between elements of a window.
  Setting dilation = 1;
  /// Whether to also return the indices of the maxima, for MaxUnpool.
  bool return_indices = false;
  /// Whether to include windows that reach over the end.
  bool ceil_mode = false;

  void fields(auto& visit) {
    visit("kernel_size", kernel_size);
    visit("stride", stride);
    visit("padding", padding);
    visit("dilation", dilation);
    visit("return_indices", return_indices);
    visit("ceil_mode", ceil_mode);
  }
};

/// Options of AvgPool1d, AvgPool2d and AvgPool3d.
struct AvgPoolOptions {
  /// Size of the window.
  Setting kernel_size = 1;
  /// Step between windows; `kernel_size` by default.
  Setting stride = kNone;
  /// Padding with zeros on both sides.
  Setting padding = 0;
  /// Whether to include windows that reach over the end.
  bool ceil_mode = false;
  /// Whether padding counts as elements of the mean.
  bool count_include_pad = true;
  /// Divisor of the sums, instead of the number of elements.
  std::optional<int64_t> divisor_override = std::nullopt;

  void fields(auto& visit) {
    visit("kernel_size", kernel_size);
    visit("stride", stride);
    visit("padding", padding);
    visit("ceil_mode", ceil_mode);
    visit("count_include_pad", count_include_pad);
    visit("divisor_override", divisor_override);
  }
};

/// Options of AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d and
/// AdaptiveMaxPool3d.
struct AdaptivePoolOptions {
  Setting output_size = 1;
  /// Whether to also return the indices of the maxima, for MaxUnpool.
  bool return_indices = false;

  void fields(auto& visit) {
    visit("output_size", output_size);
    visit("return_indices", return_indices);
  }
};

/// Options of LPPool1d, LPPool2d and LPPool3d.
struct LPPoolOptions {
  double norm_type = 2.0;
  /// Size of the window: one number, or one per dimension.
  Setting kernel_size = 1;
  /// Step between windows; `kernel_size` by default.
  Setting stride = kNone;
  /// Whether to include windows that reach over the end.
  bool ceil_mode = false;

  void fields(auto& visit) {
    visit("norm_type", norm_type);
    visit("kernel_size", kernel_size);
    visit("stride", stride);
    visit("ceil_mode", ceil_mode);
  }
};

/// Options of MaxUnpool1d, MaxUnpool2d and MaxUnpool3d.
struct MaxUnpoolOptions {
  /// Size of the window: one number, or one per dimension.
  Setting kernel_size = 1;
  /// Step between windows; `kernel_size` by default.
  Setting stride = kNone;
  /// Padding with -inf on both sides.
  Setting padding = 0;

  void fields(auto& visit) {
    visit("kernel_size", kernel_size);
    visit("stride", stride);
    visit("padding", padding);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
