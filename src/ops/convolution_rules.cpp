#include "ops/convolution_rules.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace lucid {

int64_t ConvolutionShape::taps() const {
  int64_t count = 1;
  for (const ConvolutionAxis& axis : axes) count *= axis.kernel;
  return count;
}

SymInt ConvolutionShape::outputs() const {
  SymInt count = 1;
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

void check_convolution(const Call& call) {
  const int64_t rank = call.rank(0);
  const int64_t groups = call.integer("groups");
  if (rank < 2 || call.rank(1) != rank)
    throw ValueError("{}: operands {} and {} must have the same number of dimensions, at least 2", call.name(),
                     to_string(call.operand(0).type()), to_string(call.operand(1).type()));
  if (groups < 1) throw ValueError("{}: groups must be at least 1, got {}", call.name(), groups);
  for (const Parameter& parameter : call.op().schema.parameters) {
    if (parameter.kind != ParameterKind::kInts) continue;
    const Dims& numbers = call.ints(parameter.name);
    const bool is_padding = parameter.name == "low" || parameter.name == "high";
    const int64_t min = is_padding ? -INT32_MAX : parameter.name == "kernel" ? 0 : 1;
    const bool in_range = std::ranges::all_of(numbers, [&](SymInt n) { return n >= min && n <= INT32_MAX; });
    if (numbers.rank() != rank - 2 || !in_range)
      throw ValueError("{}: {} must be {} numbers from {} to {}, got {}", call.name(), parameter.name, rank - 2, min,
                       INT32_MAX, to_string(DimsView(numbers)));
  }
  // The position of a tap must not overflow, for any padding.
  constexpr int64_t kMaxReach = int64_t{1} << 60;
  for (int64_t d = 0; d < rank - 2; ++d) {
    const auto i = static_cast<size_t>(d);
    for (const auto& [size, dilation] : {std::pair(call.shape(0)[i + 2], call.ints("input_dilation")[i]),
                                         std::pair(call.shape(1)[i + 2], call.ints("dilation")[i])})
      if (size > kMaxReach / dilation)
        throw ValueError("{}: a dimension of {} elements is too large for dilation {}", call.name(), size, dilation);
  }
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
      const SymInt spread = axis.input == 0 ? SymInt(0) : (axis.input - 1) * axis.input_dilation + 1;
      const SymInt last_start = spread + axis.low + call.ints("high")[d] - (axis.kernel - 1) * axis.dilation - 1;
      axis.output = last_start < 0 ? SymInt(0) : last_start / axis.stride + 1;
    }
    shape.axes.push_back(axis);
  }
  return shape;
}

Dims numbers_for(const Call& call, std::string_view name, int64_t dimensions, int64_t min) {
  Dims numbers = call.ints(name);
  if (numbers.size() == 1) numbers = Dims(static_cast<size_t>(dimensions), numbers[0]);
  if (numbers.rank() != dimensions)
    throw ValueError("{}: {} must be one number or {}, one for each dimension, got {}", call.name(), name, dimensions,
                     to_string(call.ints(name)));
  for (const int64_t number : numbers)
    if (number < min || number > INT32_MAX)
      throw ValueError("{}: {} must be at least {}, got {}", call.name(), name, min, to_string(call.ints(name)));
  return numbers;
}

}  // namespace lucid
