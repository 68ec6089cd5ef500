#include "ops/convolution_rules.h"

#include "base/error.h"

namespace lucid {

int64_t ConvolutionShape::taps() const {
  int64_t count = 1;
  for (const ConvolutionAxis& axis : axes) count *= axis.kernel;
  return count;
}

int64_t ConvolutionShape::outputs() const {
  int64_t count = 1;
  for (const ConvolutionAxis& axis : axes) count *= axis.output;
  return count;
}

Dims ConvolutionShape::input_shape() const {
  Dims shape{batch, groups * in_channels};
  for (const ConvolutionAxis& axis : axes) shape.push_back(axis.input);
  return shape;
}

Dims ConvolutionShape::output_shape() const {
  Dims shape{batch, groups * out_channels};
  for (const ConvolutionAxis& axis : axes) shape.push_back(axis.output);
  return shape;
}

Dims ConvolutionShape::weight_shape() const {
  Dims shape = transposed ? Dims{groups * in_channels, out_channels} : Dims{groups * out_channels, in_channels};
  for (const ConvolutionAxis& axis : axes) shape.push_back(axis.kernel);
  return shape;
}

ConvolutionShape::WeightStrides ConvolutionShape::weight_strides(DimsView strides) const {
  WeightStrides result;
  result.group = strides[0] * (transposed ? in_channels : out_channels);
  result.out = strides[transposed ? 1 : 0];
  result.in = strides[transposed ? 0 : 1];
  for (size_t d = 0; d < axes.size(); ++d) {
    const int64_t stride = strides[d + 2];
    result.taps.push_back(transposed ? -stride : stride);
    if (transposed) result.start += (axes[d].kernel - 1) * stride;
  }
  return result;
}

ConvolutionShape convolution_shape(const Call& call) {
  const bool for_weight = call.name() == "convolution_weight";
  const Dims& x = call.shape(0);
  const Dims& other = call.shape(1);
  ConvolutionShape shape;
  shape.batch = x[0];
  shape.groups = call.integer("groups");
  shape.transposed = call.flag("transposed");
  shape.in_channels = x[1] / shape.groups;
  if (for_weight) {
    shape.out_channels = other[1] / shape.groups;
  } else {
    shape.out_channels = shape.transposed ? other[1] : other[0] / shape.groups;
  }
  for (size_t d = 0; d + 2 < x.size(); ++d) {
    ConvolutionAxis axis{.input = x[d + 2],
                         .kernel = for_weight ? call.ints("kernel")[d] : other[d + 2],
                         .stride = call.ints("stride")[d],
                         .low = call.ints("low")[d],
                         .input_dilation = call.ints("input_dilation")[d],
                         .dilation = call.ints("dilation")[d]};
    if (for_weight) {
      axis.output = other[d + 2];
    } else {
      const int64_t spread = axis.input == 0 ? 0 : (axis.input - 1) * axis.input_dilation + 1;
      const int64_t room = spread + axis.low + call.ints("high")[d] - (axis.kernel - 1) * axis.dilation - 1;
      axis.output = room < 0 ? 0 : room / axis.stride + 1;
    }
    shape.axes.push_back(axis);
  }
  return shape;
}

Dims numbers_for(const Call& call, std::string_view name, int64_t dimensions, int64_t least) {
  Dims numbers = call.ints(name);
  if (numbers.size() == 1) numbers = Dims(static_cast<size_t>(dimensions), numbers[0]);
  if (numbers.rank() != dimensions)
    throw ValueError("{}: {} must be one number or {}, one for each dimension, got {}", call.name(), name, dimensions,
                     to_string(call.ints(name)));
  for (const int64_t number : numbers)
    if (number < least || number > INT32_MAX)
      throw ValueError("{}: {} must be at least {}, got {}", call.name(), name, least, to_string(call.ints(name)));
  return numbers;
}

}  // namespace lucid
