#include <lucid/nn/conv.h>
#include <lucid/nn/init.h>
#include <lucid/ops.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "nn/parameters.h"
#include "nn/repr.h"
#include "tensor/api.h"

namespace lucid::nn {
namespace {

bool all_are(const Shape& numbers, int64_t value) {
  return std::all_of(numbers.begin(), numbers.end(), [&](int64_t number) { return number == value; });
}

}  // namespace

void ConvBase::configure(int64_t in, int64_t out, Shape kernel, const ConvOptions& options) {
  in_channels = in;
  out_channels = out;
  kernel_size = std::move(kernel);
  stride = options.stride;
  padding = options.padding;
  dilation = options.dilation;
  groups = options.groups;
  padding_mode = options.padding_mode;
  output_padding = options.output_padding;
  has_bias_ = options.bias;
  build(options.dtype);
}

void ConvBase::fields(Fields& visit) {
  visit("in_channels", in_channels);
  visit("out_channels", out_channels);
  visit("kernel_size", kernel_size);
  visit("stride", stride);
  visit("padding", padding);
  visit("dilation", dilation);
  visit("groups", groups);
  visit("padding_mode", padding_mode);
  visit("output_padding", output_padding);
  visit("_bias", has_bias_);
}

void ConvBase::build(std::optional<Dtype> dtype) {
  const std::string name = type_name();
  kernel_size = for_each_dimension(name, "kernel_size", kernel_size, spatial_);
  stride = for_each_dimension(name, "stride", stride, spatial_);
  dilation = for_each_dimension(name, "dilation", dilation, spatial_);
  output_padding = for_each_dimension(name, "output_padding", output_padding, spatial_);
  if (padding.is_string()) {
    if (padding.to_string() != "same" && padding.to_string() != "valid")
      throw ValueError("{}: padding must be numbers, 'same' or 'valid', got '{}'", name, padding.to_string());
    if (padding.to_string() == "same" && !all_are(stride, 1))
      throw ValueError("{}: padding 'same' needs stride 1, got {}", name, tuple_text(stride));
  } else {
    padding = for_each_dimension(name, "padding", padding.to_shape(), spatial_);
  }
  if (groups <= 0) throw ValueError("{}: groups must be above 0, got {}", name, groups);
  if (in_channels % groups != 0)
    throw ValueError("{}: {} in_channels cannot be split into {} groups", name, in_channels, groups);
  if (out_channels % groups != 0)
    throw ValueError("{}: {} out_channels cannot be split into {} groups", name, out_channels, groups);
  static constexpr const char* kModes[] = {"zeros", "reflect", "replicate", "circular"};
  if (std::find(std::begin(kModes), std::end(kModes), padding_mode) == std::end(kModes))
    throw ValueError("{}: padding_mode must be 'zeros', 'reflect', 'replicate' or 'circular', got '{}'", name,
                     padding_mode);
  if (transposed && padding_mode != "zeros")
    throw ValueError("{}: padding_mode must be 'zeros', got '{}'", name, padding_mode);
  Shape shape = transposed ? Shape{in_channels, out_channels / groups} : Shape{out_channels, in_channels / groups};
  shape.insert(shape.end(), kernel_size.begin(), kernel_size.end());
  add_parameter(*this, "weight", shape, dtype);
  add_parameter(*this, "bias", {out_channels}, dtype, has_bias_);
  reset_parameters();
}

void ConvBase::reset_parameters() {
  const Tensor weight = parameter("weight");
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  const Tensor bias = parameter("bias");
  const int64_t fan = init::calculate_fans(weight).in;
  if (!bias.defined() || fan == 0) return;
  const double bound = 1 / std::sqrt(static_cast<double>(fan));
  init::uniform_(bias, -bound, bound);
}

Tensor ConvBase::forward(const Tensor& input) {
  if (transposed) return transposed_forward(input, Item());
  // Padding before and after each dimension.
  Shape around;
  for (size_t d = 0; d < kernel_size.size(); ++d) {
    const int64_t total = dilation[d] * (kernel_size[d] - 1);
    if (!padding.is_string()) {
      const int64_t each = padding.to_shape()[d];
      around.insert(around.end(), {each, each});
    } else if (padding.to_string() == "same") {
      around.insert(around.end(), {total / 2, total - total / 2});
    } else {
      around.insert(around.end(), {0, 0});
    }
  }
  Tensor x = input;
  if (padding_mode != "zeros") {
    Shape last_first;
    for (size_t d = kernel_size.size(); d-- > 0;)
      last_first.insert(last_first.end(), {around[2 * d], around[2 * d + 1]});
    x = pad(input, last_first, padding_mode);
    std::fill(around.begin(), around.end(), 0);
  }
  constexpr auto kOps = std::array{conv1d, conv2d, conv3d};
  return kOps[static_cast<size_t>(spatial_ - 1)](x, parameter("weight"), parameter("bias"), stride, around, dilation,
                                                 groups);
}

Tensor ConvBase::transposed_forward(const Tensor& input, const Item& output_size) {
  const Shape around = padding.to_shape();
  Shape extra = output_padding;
  if (!output_size.is_none()) {
    Shape wanted = output_size.to_shape();
    if (wanted.size() == kernel_size.size() + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
    if (wanted.size() != kernel_size.size())
      throw ValueError("{}: output_size must have {} numbers, got {}", type_name(), kernel_size.size(), wanted.size());
    for (size_t d = 0; d < wanted.size(); ++d) {
      const int64_t size = input.size(static_cast<int64_t>(d) - spatial_);
      const int64_t min_size = (size - 1) * stride[d] - 2 * around[d] + dilation[d] * (kernel_size[d] - 1) + 1;
      extra[d] = wanted[d] - min_size;
      if (extra[d] < 0 || extra[d] >= std::max(stride[d], dilation[d]))
        throw ValueError(
            "{}: output_size {} is not possible for an input of {}: dimension {} must be between {} and {}",
            type_name(), tuple_text(wanted), to_string(unwrap(input).type()), d, min_size,
            min_size + std::max(stride[d], dilation[d]) - 1);
    }
  }
  constexpr auto kOps = std::array{conv_transpose1d, conv_transpose2d, conv_transpose3d};
  return kOps[static_cast<size_t>(spatial_ - 1)](input, parameter("weight"), parameter("bias"), stride, around, extra,
                                                 groups, dilation);
}

Item ConvBase::forward_with(const Arguments& arguments) {
  if (!transposed) return Module::forward_with(arguments);
  const auto items = arguments.bind(type_name() + ".forward", {"input", "output_size"}, 1);
  return transposed_forward(items[0].to_tensor(), items[1]);
}

std::string ConvBase::extra_repr() const {
  std::string text = fmt::format("{}, {}, kernel_size={}, stride={}", in_channels, out_channels,
                                 tuple_text(kernel_size), tuple_text(stride));
  if (padding.is_string() || !all_are(padding.to_shape(), 0))
    text += ", padding=" + (padding.is_string() ? padding.to_string() : item_text(padding));
  if (!all_are(dilation, 1)) text += ", dilation=" + tuple_text(dilation);
  if (!all_are(output_padding, 0)) text += ", output_padding=" + tuple_text(output_padding);
  if (groups != 1) text += fmt::format(", groups={}", groups);
  if (!parameter("bias").defined()) text += ", bias=False";
  if (padding_mode != "zeros") text += fmt::format(", padding_mode={}", padding_mode);
  return text;
}

}  // namespace lucid::nn
