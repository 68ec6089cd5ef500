#pragma once

#include <string_view>
#include <vector>

#include "ir/op.h"

/// Shared by convolutions, their gradients and their kernels.
namespace lucid {

/// One spatial dimension of a convolution. Output p reads position p * stride + t * dilation - low at tap t. Positions
/// refer to the input with input_dilation - 1 zeros between neighboring elements; positions outside it read 0.
struct ConvolutionAxis {
  SymInt input = 1;
  SymInt output = 1;
  SymInt kernel = 1;
  int64_t stride = 1;
  int64_t low = 0;
  int64_t input_dilation = 1;
  int64_t dilation = 1;

  /// Number of positions from the first to the last that a tap reads, inclusive.
  SymInt extent() const { return output == 0 ? SymInt(0) : (output - 1) * stride + (kernel - 1) * dilation + 1; }
};

/// The sizes of a convolution; channel counts are those of one group.
struct ConvolutionShape {
  SymInt batch = 0;
  int64_t groups = 1;
  SymInt in_channels = 0;
  SymInt out_channels = 0;
  /// The weight is [in, out, taps] with reversed taps, instead of [out, in, taps].
  bool transposed = false;
  std::vector<ConvolutionAxis> axes;

  int64_t taps() const;
  SymInt outputs() const;
  Dims input_shape() const;
  Dims output_shape() const;
  Dims weight_shape() const;
  /// Offset of the element of group 0, output channel 0, input channel 0 and tap 0 in a weight with given strides, and
  /// the distances to the next group, channel and tap.
  struct WeightStrides {
    int64_t start = 0;
    int64_t group = 0;
    int64_t out = 0;
    int64_t in = 0;
    Dims taps;
  };
  WeightStrides weight_strides(DimsView strides) const;
};

/// The sizes of a call of `convolution` or `convolution_weight`. The shape rules of these ops check that the operands
/// match them.
ConvolutionShape convolution_shape(const Call& call);

/// Throws ValueError for calls without a valid ConvolutionShape. Calls emitted by layers always have one.
void check_convolution(const Call& call);

/// Reads an attribute that holds one integer for each of `dimensions` dimensions, or one for all of them. Throws
/// ValueError if one is below `min`.
Dims numbers_for(const Call& call, std::string_view name, int64_t dimensions, int64_t min);

}  // namespace lucid
