#pragma once

#include <string_view>
#include <vector>

#include "ir/op.h"

/// What convolutions, their gradients and their kernels share.
namespace lucid {

/// One spatial dimension of a convolution. Output p and tap t meet at place p * stride + t * dilation - low of the
/// input, in which input_dilation - 1 zeros stand between two elements and zeros around them.
struct ConvolutionAxis {
  int64_t input = 1;
  int64_t output = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t low = 0;
  int64_t input_dilation = 1;
  int64_t dilation = 1;

  /// Places between the first that a tap reads and the last, both included.
  int64_t extent() const { return output == 0 ? 0 : (output - 1) * stride + (kernel - 1) * dilation + 1; }
};

/// The sizes of a convolution; channels are those of one group.
struct ConvolutionShape {
  int64_t batch = 0;
  int64_t groups = 1;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  /// The weight is [in, out, taps] with its taps in reverse, instead of [out, in, taps].
  bool transposed = false;
  std::vector<ConvolutionAxis> axes;

  int64_t taps() const;
  int64_t outputs() const;
  Dims input_shape() const;
  Dims output_shape() const;
  Dims weight_shape() const;
  /// The place in a weight of these strides of group 0's output channel 0, input channel 0 and tap 0, and the distances
  /// to the next of each.
  struct WeightStrides {
    int64_t start = 0;
    int64_t group = 0;
    int64_t out = 0;
    int64_t in = 0;
    Dims taps;
  };
  WeightStrides weight_strides(DimsView strides) const;
};

/// The sizes of a call of `convolution`, which checks that operands and attributes fit together, or of
/// `convolution_weight`.
ConvolutionShape convolution_shape(const Call& call);

/// Throws ValueError for calls that have no such shape; those that layers emit have one.
void check_convolution(const Call& call);

/// An attribute that holds a number for each of so many dimensions, or one for all of them, each at least `least`.
Dims numbers_for(const Call& call, std::string_view name, int64_t dimensions, int64_t least);

}  // namespace lucid
