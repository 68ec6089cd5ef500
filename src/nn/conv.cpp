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

void ConvBase::fields(Fields& visit) { options.fields(visit); }

void ConvBase::build(std::optional<Dtype> dtype) {
  const std::string name = type_name();
  options.kernel_size = for_each_dimension(name, "kernel_size", options.kernel_size, spatial_);
  options.stride = for_each_dimension(name, "stride", options.stride, spatial_);
  options.dilation = for_each_dimension(name, "dilation", options.dilation, spatial_);
  options.output_padding = for_each_dimension(name, "output_padding", options.output_padding, spatial_);
  if (options.padding.is_text()) {
    if (options.padding.as_text() != "same" && options.padding.as_text() != "valid")
      throw ValueError("{}: padding must be numbers, 'same' or 'valid', got '{}'", name, options.padding.as_text());
    if (options.padding.as_text() == "same" && !all_are(options.stride, 1))
      throw ValueError("{}: padding 'same' needs stride 1, got {}", name, tuple_text(options.stride));
  } else {
    options.padding = for_each_dimension(name, "padding", options.padding.as_shape(), spatial_);
  }
  if (options.groups <= 0) throw ValueError("{}: groups must be above 0, got {}", name, options.groups);
  if (options.in_channels % options.groups != 0)
    throw ValueError("{}: {} in_channels cannot be split into {} groups", name, options.in_channels, options.groups);
  if (options.out_channels % options.groups != 0)
    throw ValueError("{}: {} out_channels cannot be split into {} groups", name, options.out_channels, options.groups);
  static constexpr const char* kModes[] = {"zeros", "reflect", "replicate", "circular"};
  if (std::find(std::begin(kModes), std::end(kModes), options.padding_mode) == std::end(kModes))
    throw ValueError("{}: padding_mode must be 'zeros', 'reflect', 'replicate' or 'circular', got '{}'", name,
                     options.padding_mode);
  if (transposed && options.padding_mode != "zeros")
    throw ValueError("{}: padding_mode must be 'zeros', got '{}'", name, options.padding_mode);
  Shape shape = transposed ? Shape{options.in_channels, options.out_channels / options.groups}
                           : Shape{options.out_channels, options.in_channels / options.groups};
  shape.insert(shape.end(), options.kernel_size.begin(), options.kernel_size.end());
  add_parameter(*this, "weight", shape, dtype);
  add_parameter(*this, "bias", {options.out_channels}, dtype, options.bias);
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
  if (transposed) return transposed_forward(input, Tree());
  // Padding before and after each dimension.
  Shape around;
  for (size_t d = 0; d < options.kernel_size.size(); ++d) {
    const int64_t total = options.dilation[d] * (options.kernel_size[d] - 1);
    if (!options.padding.is_text()) {
      const int64_t each = options.padding.as_shape()[d];
      around.insert(around.end(), {each, each});
    } else if (options.padding.as_text() == "same") {
      around.insert(around.end(), {total / 2, total - total / 2});
    } else {
      around.insert(around.end(), {0, 0});
    }
  }
  Tensor x = input;
  if (options.padding_mode != "zeros") {
    Shape last_first;
    for (size_t d = options.kernel_size.size(); d-- > 0;)
      last_first.insert(last_first.end(), {around[2 * d], around[2 * d + 1]});
    x = pad(input, last_first, options.padding_mode);
    std::fill(around.begin(), around.end(), 0);
  }
  constexpr auto kOps = std::array{conv1d, conv2d, conv3d};
  return kOps[static_cast<size_t>(spatial_ - 1)](x, parameter("weight"), parameter("bias"), options.stride, around,
                                                 options.dilation, options.groups);
}

Tensor ConvBase::transposed_forward(const Tensor& input, const Tree& output_size) {
  const Shape around = options.padding.as_shape();
  Shape extra = options.output_padding;
  if (!output_size.is_none()) {
    Shape wanted = output_size.as_shape("output_size");
    if (wanted.size() == options.kernel_size.size() + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
    if (wanted.size() != options.kernel_size.size())
      throw ValueError("{}: output_size must have {} numbers, got {}", type_name(), options.kernel_size.size(),
                       wanted.size());
    for (size_t d = 0; d < wanted.size(); ++d) {
      const int64_t size = input.size(static_cast<int64_t>(d) - spatial_);
      const int64_t min_size =
          (size - 1) * options.stride[d] - 2 * around[d] + options.dilation[d] * (options.kernel_size[d] - 1) + 1;
      extra[d] = wanted[d] - min_size;
      if (extra[d] < 0 || extra[d] >= std::max(options.stride[d], options.dilation[d]))
        throw ValueError(
            "{}: output_size {} is not possible for an input of {}: dimension {} must be between {} and {}",
            type_name(), tuple_text(wanted), to_string(unwrap(input).type()), d, min_size,
            min_size + std::max(options.stride[d], options.dilation[d]) - 1);
    }
  }
  constexpr auto kOps = std::array{conv_transpose1d, conv_transpose2d, conv_transpose3d};
  return kOps[static_cast<size_t>(spatial_ - 1)](input, parameter("weight"), parameter("bias"), options.stride, around,
                                                 extra, options.groups, options.dilation);
}

Tree ConvBase::forward_with(const Arguments& arguments) {
  if (!transposed) return Module::forward_with(arguments);
  const auto items = arguments.bind(type_name() + ".forward", {"input", "output_size"}, 1);
  return transposed_forward(items[0].as_tensor("input"), items[1]);
}

std::string ConvBase::extra_repr() const {
  std::string text = fmt::format("{}, {}, kernel_size={}, stride={}", options.in_channels, options.out_channels,
                                 tuple_text(options.kernel_size), tuple_text(options.stride));
  if (options.padding.is_text() || !all_are(options.padding.as_shape(), 0))
    text += ", padding=" + (options.padding.is_text() ? options.padding.as_text() : tree_text(options.padding));
  if (!all_are(options.dilation, 1)) text += ", dilation=" + tuple_text(options.dilation);
  if (!all_are(options.output_padding, 0)) text += ", output_padding=" + tuple_text(options.output_padding);
  if (options.groups != 1) text += fmt::format(", groups={}", options.groups);
  if (!parameter("bias").defined()) text += ", bias=False";
  if (options.padding_mode != "zeros") text += fmt::format(", padding_mode={}", options.padding_mode);
  return text;
}

}  // namespace lucid::nn
