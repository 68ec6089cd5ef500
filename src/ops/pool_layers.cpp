// Pooling over one, two and three dimensions, as layers call it. Arguments are checked here.

#include <algorithm>

#include "ops/convolution_rules.h"
#include "ops/rules.h"

namespace lucid {
namespace {

void check_rank(const Call& call, int64_t dimensions) {
  if (!call.operand(0).is_value() || (call.rank(0) != dimensions + 2 && call.rank(0) != dimensions + 1))
    throw ValueError("{}: x must be [batch, channels] or [channels] followed by {}, got {}", call.name(),
                     dimensions == 1 ? "one dimension" : std::to_string(dimensions) + " dimensions", type_of(call, 0));
  for (int64_t d = call.rank(0) - dimensions; d < call.rank(0); ++d)
    if (call.shape(0)[static_cast<size_t>(d)] == 0)
      throw ValueError("{}: dimension {} of x {} is empty", call.name(), d, type_of(call, 0));
}

/// The geometry of windows over the last dimensions of a tensor, and their number along each, `size`.
struct Windows {
  Dims kernel, stride, padding, dilation, size;
};

Dims stride_or(const Call& call, const Dims& kernel) {
  const Attribute& stride = call.attribute("stride");
  const auto* given = std::get_if<Dims>(&stride);
  return given && !given->empty() ? numbers_for(call, "stride", kernel.rank(), 1) : kernel;
}

Windows windows_of(const Call& call, int64_t dimensions, bool has_padding, bool has_dilation) {
  check_rank(call, dimensions);
  Windows result;
  const Dims zeros(static_cast<size_t>(dimensions), 0);
  const Dims ones(static_cast<size_t>(dimensions), 1);
  result.kernel = numbers_for(call, "kernel_size", dimensions, 1);
  result.stride = stride_or(call, result.kernel);
  result.padding = has_padding ? numbers_for(call, "padding", dimensions, 0) : zeros;
  result.dilation = has_dilation ? numbers_for(call, "dilation", dimensions, 1) : ones;
  for (int64_t d = 0; d < dimensions; ++d) {
    const auto i = static_cast<size_t>(d);
    const SymInt reach = (result.kernel[i] - 1) * result.dilation[i] + 1;
    const int64_t padding = result.padding[i];
    const int64_t stride = result.stride[i];
    if (padding > reach / 2)
      throw ValueError("{}: padding must be at most half of the window, got {} for windows over {} elements",
                       call.name(), padding, reach);
    const SymInt input = call.shape(0)[static_cast<size_t>(call.rank(0) - dimensions) + i];
    const SymInt slack = input + 2 * padding - reach;
    SymInt size = slack < 0 ? SymInt(0) : slack / stride + 1;
    if (call.flag("ceil_mode") && slack + stride - 1 >= 0) {
      size = (slack + stride - 1) / stride + 1;
      // The last window must begin inside the input or in the padding before it.
      if ((size - 1) * stride >= input + padding) --size;
    }
    if (size <= 0)
      throw ValueError("{}: windows over {} elements do not fit dimension {} of x {} with padding {}", call.name(),
                       reach, call.rank(0) - dimensions + d, type_of(call, 0), padding);
    result.size.push_back(size);
  }
  return result;
}

/// Windows that divide the last dimensions. If they do so evenly, they are expressed as ordinary windows.
Windows adaptive_windows(const Call& call, int64_t dimensions) {
  check_rank(call, dimensions);
  Windows result;
  result.size = numbers_for(call, "output_size", dimensions, 0);
  const Dims input(call.shape(0).end() - dimensions, call.shape(0).end());
  for (size_t i = 0; i < input.size(); ++i)
    if (result.size[i] == 0 || input[i] % result.size[i] != 0) return {{}, {}, {}, {}, result.size};
  for (size_t i = 0; i < input.size(); ++i) result.kernel.push_back(input[i] / result.size[i]);
  result.stride = result.kernel;
  result.padding = Dims(input.size(), 0);
  result.dilation = Dims(input.size(), 1);
  return result;
}

Value largest(Emitter& e, const Value& x, const Windows& w) {
  return e.max_pool(x, w.kernel, w.stride, w.padding, w.dilation, w.size);
}

Value positions(Emitter& e, const Value& x, const Windows& w) {
  return e.max_position(x, w.kernel, w.stride, w.padding, w.dilation, w.size);
}

Value means(Emitter& e, const Value& x, const Windows& w, bool include_padding = true,
            std::optional<int64_t> divisor = std::nullopt) {
  return e.mean_pool(x, w.kernel, w.stride, w.padding, w.dilation, w.size, include_padding, divisor);
}

/// The shape of a sample with this number of pooled dimensions.
Dims sample_shape(int64_t dimensions, bool batched) {
  Dims shape = batched ? Dims{2, 3} : Dims{3};
  const Dims last = dimensions == 1 ? Dims{19} : dimensions == 2 ? Dims{6, 9} : Dims{4, 5, 6};
  for (const int64_t size : last) shape.push_back(size);
  return shape;
}

std::vector<Sample> pool_samples(int64_t dimensions, Fill fill) {
  return with({{{filled(sample_shape(dimensions, true), fill)}}}, {{"kernel_size", Dims{2}}}) +
         with({{{filled(sample_shape(dimensions, false), fill)}}},
              {{"kernel_size", Dims{3}}, {"stride", Dims{2}}, {"padding", Dims{1}}, {"ceil_mode", true}});
}

Op max_layer(Op op, int64_t dimensions, bool with_indices) {
  op.names.method = false;
  op.dtypes = kNumbers;
  op.decompose = [dimensions, with_indices](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    const Windows windows = windows_of(call, dimensions, true, true);
    if (!with_indices) return {largest(e, in[0], windows)};
    return {largest(e, in[0], windows), positions(e, in[0], windows)};
  };
  op.samples = pool_samples(dimensions, Fill::kDistinct) +
               with({{{filled(sample_shape(dimensions, true), Fill::kDistinct)}}},
                    {{"kernel_size", Dims{2}}, {"stride", Dims{1}}, {"dilation", Dims{2}}});
  return op;
}

Op max_pool1d() {
  return max_layer(
      {.signature = "max_pool1d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], "
                    "dilation: ints = [1], ceil_mode: bool = False)",
       .doc = R"(Computes the maximum of each sliding window over the last dimension of `x`, which is [channels, length]
or [batch, channels, length]. `stride` defaults to `kernel_size`. `dilation` is the distance between
the elements of a window. `padding` is ignored by the maximum and is at most half of the window.
`ceil_mode` rounds the number of windows up instead of down. NaN is propagated.

>>> lucid.max_pool1d(lucid.tensor([[1., 5., 2., 4.]]), 2)
tensor([[5., 4.]]))"},
      1, false);
}

Op max_pool2d() {
  return max_layer(
      {.signature = "max_pool2d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], "
                    "dilation: ints = [1], ceil_mode: bool = False)",
       .doc = R"(Computes the maximum of each sliding window over the last two dimensions of `x`, which is [channels,
height, width] or [batch, channels, height, width]. `stride` defaults to `kernel_size`. `dilation` is
the distance between the elements of a window. `padding` is ignored by the maximum and is at most half
of the window. `ceil_mode` rounds the number of windows up instead of down. NaN is propagated.

>>> lucid.max_pool2d(lucid.arange(16.).reshape(1, 4, 4), 2)
tensor([[[ 5.,  7.],
         [13., 15.]]]))"},
      2, false);
}

Op max_pool3d() {
  return max_layer(
      {.signature = "max_pool3d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], "
                    "dilation: ints = [1], ceil_mode: bool = False)",
       .doc = R"(Computes the maximum of each sliding window over the last three dimensions of `x`, which is [channels,
depth, height, width] or [batch, channels, depth, height, width]. `stride` defaults to `kernel_size`.
`dilation` is the distance between the elements of a window. `padding` is ignored by the maximum and is
at most half of the window. `ceil_mode` rounds the number of windows up instead of down. NaN is
propagated.

>>> lucid.max_pool3d(lucid.arange(8.).reshape(1, 2, 2, 2), 2).item()
7.0)"},
      3, false);
}

Op max_pool1d_with_indices() {
  return max_layer(
      {.signature = "max_pool1d_with_indices(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], "
                    "dilation: ints = [1], ceil_mode: bool = False) -> values, indices",
       .doc = R"(Computes max_pool1d and returns the maxima as `values` and their i64 positions in the last dimension of
`x` as `indices`. Of equal elements the first is chosen, and of several NaNs the last.

>>> lucid.max_pool1d_with_indices(lucid.tensor([[1., 5., 2., 4.]]), 2).indices
tensor([[1, 3]]))"},
      1, true);
}

Op max_pool2d_with_indices() {
  return max_layer(
      {.signature = "max_pool2d_with_indices(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], "
                    "dilation: ints = [1], ceil_mode: bool = False) -> values, indices",
       .doc = R"(Computes max_pool2d and returns the maxima as `values` and their i64 positions in the flattened last
two dimensions of `x` as `indices`. Of equal elements the first is chosen, and of several NaNs the
last.

>>> lucid.max_pool2d_with_indices(lucid.arange(16.).reshape(1, 4, 4), 2).indices
tensor([[[ 5,  7],
         [13, 15]]]))"},
      2, true);
}

Op max_pool3d_with_indices() {
  return max_layer(
      {.signature = "max_pool3d_with_indices(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], "
                    "dilation: ints = [1], ceil_mode: bool = False) -> values, indices",
       .doc = R"(Computes max_pool3d and returns the maxima as `values` and their i64 positions in the flattened last
three dimensions of `x` as `indices`. Of equal elements the first is chosen, and of several NaNs the
last.

>>> lucid.max_pool3d_with_indices(lucid.arange(8.).reshape(1, 2, 2, 2), 2).indices.item()
7)"},
      3, true);
}

Op mean_layer(Op op, int64_t dimensions) {
  op.names.method = false;
  op.dtypes = kFloats;
  op.decompose = [dimensions](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    std::optional<int64_t> divisor;
    if (dimensions > 1 && !call.is_none("divisor_override")) {
      divisor = call.integer("divisor_override");
      if (*divisor == 0) throw ValueError("{}: divisor_override must not be 0", call.name());
    }
    return {means(e, in[0], windows_of(call, dimensions, true, false), call.flag("count_include_pad"), divisor)};
  };
  op.samples =
      pool_samples(dimensions, Fill::kNormal) +
      with({{{normal(sample_shape(dimensions, true))}}},
           {{"kernel_size", Dims{3}}, {"stride", Dims{2}}, {"padding", Dims{1}}, {"count_include_pad", false}});
  if (dimensions > 1)
    op.samples = op.samples + with({{{normal(sample_shape(dimensions, true))}}},
                                   {{"kernel_size", Dims{2}}, {"divisor_override", int64_t{3}}});
  return op;
}

Op avg_pool1d() {
  return mean_layer({.signature = "avg_pool1d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], "
                                  "ceil_mode: bool = False, count_include_pad: bool = True)",
                     .doc = R"(Computes the mean of each sliding window over the last dimension of `x`, which is
[channels, length] or [batch, channels, length]. `stride` defaults to `kernel_size`.
`padding` adds zeros at both ends, at most half of the window; `count_include_pad`
selects whether they count in the divisor. `ceil_mode` rounds the number of windows up
instead of down.

>>> lucid.avg_pool1d(lucid.tensor([[1., 5., 2., 4.]]), 2)
tensor([[3., 3.]]))"},
                    1);
}

Op avg_pool2d() {
  return mean_layer(
      {.signature = "avg_pool2d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], ceil_mode: "
                    "bool = False, count_include_pad: bool = True, divisor_override: int? = None)",
       .doc = R"(Computes the mean of each sliding window over the last two dimensions of `x`, which is [channels,
height, width] or [batch, channels, height, width]. `stride` defaults to `kernel_size`. `padding` adds
zeros on all sides, at most half of the window; `count_include_pad` selects whether they count in the
divisor. `divisor_override` replaces the divisor and must not be 0. `ceil_mode` rounds the number of
windows up instead of down.

>>> lucid.avg_pool2d(lucid.arange(16.).reshape(1, 4, 4), 2)
tensor([[[ 2.5000,  4.5000],
         [10.5000, 12.5000]]]))"},
      2);
}

Op avg_pool3d() {
  return mean_layer(
      {.signature = "avg_pool3d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], ceil_mode: "
                    "bool = False, count_include_pad: bool = True, divisor_override: int? = None)",
       .doc = R"(Computes the mean of each sliding window over the last three dimensions of `x`, which is [channels,
depth, height, width] or [batch, channels, depth, height, width]. `stride` defaults to `kernel_size`.
`padding` adds zeros on all sides, at most half of the window; `count_include_pad` selects whether they
count in the divisor. `divisor_override` replaces the divisor and must not be 0. `ceil_mode` rounds the
number of windows up instead of down.

>>> lucid.avg_pool3d(lucid.arange(8.).reshape(1, 2, 2, 2), 2).item()
3.5)"},
      3);
}

std::vector<Sample> adaptive_samples(int64_t dimensions, Fill fill) {
  return with({{{filled(sample_shape(dimensions, true), fill)}}}, {{"output_size", Dims{1}}}) +
         with({{{filled(sample_shape(dimensions, false), fill)}}}, {{"output_size", Dims{3}}}) +
         with({{{filled(sample_shape(dimensions, true), fill)}}}, {{"output_size", Dims{7}}});
}

Op adaptive_mean(Op op, int64_t dimensions) {
  op.names.method = false;
  op.dtypes = kFloats;
  op.decompose = [dimensions](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    const Windows windows = adaptive_windows(call, dimensions);
    const bool whole = std::ranges::all_of(windows.size, [](int64_t size) { return size == 1; });
    if (!whole) return {means(e, in[0], windows)};
    Dims dims;
    for (int64_t d = 0; d < dimensions; ++d) dims.push_back(in[0].rank() - dimensions + d);
    return {e.mean(in[0], dims, true)};
  };
  op.samples = adaptive_samples(dimensions, Fill::kNormal);
  return op;
}

Op adaptive_avg_pool1d() {
  return adaptive_mean({.signature = "adaptive_avg_pool1d(x, output_size: ints)",
                        .doc = R"(Averages the last dimension of `x` into `output_size` bins. Bin i covers the elements
from floor(i * size / output_size) up to but not including ceil((i + 1) * size /
output_size). `x` is [channels, length] or [batch, channels, length].

>>> lucid.adaptive_avg_pool1d(lucid.tensor([[1., 5., 2., 4.]]), 2)
tensor([[3., 3.]]))"},
                       1);
}

Op adaptive_avg_pool2d() {
  return adaptive_mean({.signature = "adaptive_avg_pool2d(x, output_size: ints)",
                        .doc = R"(Averages the last two dimensions of `x` into `output_size` bins: one number for both
dimensions or one for each. Along each dimension, bin i covers the elements from
floor(i * size / output_size) up to but not including ceil((i + 1) * size /
output_size). `x` is [channels, height, width] or [batch, channels, height, width].

>>> lucid.adaptive_avg_pool2d(lucid.arange(16.).reshape(1, 4, 4), 1)
tensor([[[7.5000]]]))"},
                       2);
}

Op adaptive_avg_pool3d() {
  return adaptive_mean({.signature = "adaptive_avg_pool3d(x, output_size: ints)",
                        .doc = R"(Averages the last three dimensions of `x` into `output_size` bins: one number for all
dimensions or one for each. Along each dimension, bin i covers the elements from
floor(i * size / output_size) up to but not including ceil((i + 1) * size /
output_size). `x` is [channels, depth, height, width] or [batch, channels, depth,
height, width].

>>> lucid.adaptive_avg_pool3d(lucid.arange(8.).reshape(1, 2, 2, 2), 1).item()
3.5)"},
                       3);
}

Op adaptive_max(Op op, int64_t dimensions) {
  op.names.method = false;
  op.dtypes = kNumbers;
  op.decompose = [dimensions](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    const Windows windows = adaptive_windows(call, dimensions);
    return {largest(e, in[0], windows), positions(e, in[0], windows)};
  };
  op.samples = adaptive_samples(dimensions, Fill::kDistinct);
  return op;
}

Op adaptive_max_pool1d_with_indices() {
  return adaptive_max(
      {.signature = "adaptive_max_pool1d_with_indices(x, output_size: ints) -> values, indices",
       .doc = R"(Divides the last dimension of `x` into `output_size` bins and returns the maximum of each bin as
`values` and its i64 position in that dimension as `indices`. Bin i covers the elements from floor(i *
size / output_size) up to but not including ceil((i + 1) * size / output_size).

>>> lucid.adaptive_max_pool1d_with_indices(lucid.tensor([[1., 5., 2., 4.]]), 2).indices
tensor([[1, 3]]))"},
      1);
}

Op adaptive_max_pool2d_with_indices() {
  return adaptive_max(
      {.signature = "adaptive_max_pool2d_with_indices(x, output_size: ints) -> values, indices",
       .doc = R"(Divides the last two dimensions of `x` into `output_size` bins, one number for both dimensions or one
for each, and returns the maximum of each bin as `values` and its i64 position in the flattened
dimensions as `indices`. Along each dimension, bin i covers the elements from floor(i * size /
output_size) up to but not including ceil((i + 1) * size / output_size).

>>> lucid.adaptive_max_pool2d_with_indices(lucid.arange(16.).reshape(1, 4, 4), 1).indices.item()
15)"},
      2);
}

Op adaptive_max_pool3d_with_indices() {
  return adaptive_max(
      {.signature = "adaptive_max_pool3d_with_indices(x, output_size: ints) -> values, indices",
       .doc = R"(Divides the last three dimensions of `x` into `output_size` bins, one number for all dimensions or one
for each, and returns the maximum of each bin as `values` and its i64 position in the flattened
dimensions as `indices`. Along each dimension, bin i covers the elements from floor(i * size /
output_size) up to but not including ceil((i + 1) * size / output_size).

>>> lucid.adaptive_max_pool3d_with_indices(lucid.arange(8.).reshape(1, 2, 2, 2), 1).indices.item()
7)"},
      3);
}

Op norm_layer(Op op, int64_t dimensions) {
  op.names.method = false;
  op.dtypes = kFloats;
  op.decompose = [dimensions](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    const double p = call.real("norm_type");
    const Windows windows = windows_of(call, dimensions, false, false);
    const Value sums = means(e, e.pow(in[0], p), windows, true, 1);
    return {e.pow(e.mul(e.sign(sums), e.relu(e.abs(sums))), 1 / p)};
  };
  op.samples = with({{{filled(sample_shape(dimensions, true), Fill::kPositive)}}},
                    {{"norm_type", 2.0}, {"kernel_size", Dims{2}}}) +
               with({{{filled(sample_shape(dimensions, false), Fill::kPositive)}}},
                    {{"norm_type", 3.0}, {"kernel_size", Dims{3}}, {"stride", Dims{2}}});
  return op;
}

Op lp_pool1d() {
  return norm_layer({.signature = "lp_pool1d(x, norm_type: float, kernel_size: ints, stride: ints? = None, "
                                  "ceil_mode: bool = False)",
                     .doc = R"(Computes the power average (sum of x^p)^(1/p), with p = norm_type, of each sliding window
over the last dimension of `x`, which is [channels, length] or [batch, channels, length].
`stride` defaults to `kernel_size`. `ceil_mode` rounds the number of windows up instead
of down.

>>> lucid.lp_pool1d(lucid.tensor([[3., 4.]]), 2, 2)
tensor([[5.]]))"},
                    1);
}

Op lp_pool2d() {
  return norm_layer({.signature = "lp_pool2d(x, norm_type: float, kernel_size: ints, stride: ints? = None, "
                                  "ceil_mode: bool = False)",
                     .doc = R"(Computes the power average (sum of x^p)^(1/p), with p = norm_type, of each sliding window
over the last two dimensions of `x`, which is [channels, height, width] or [batch,
channels, height, width]. `stride` defaults to `kernel_size`. `ceil_mode` rounds the
number of windows up instead of down.

>>> lucid.lp_pool2d(lucid.ones(1, 2, 2), 2, 2)
tensor([[[2.]]]))"},
                    2);
}

Op lp_pool3d() {
  return norm_layer({.signature = "lp_pool3d(x, norm_type: float, kernel_size: ints, stride: ints? = None, "
                                  "ceil_mode: bool = False)",
                     .doc = R"(Computes the power average (sum of x^p)^(1/p), with p = norm_type, of each sliding window
over the last three dimensions of `x`, which is [channels, depth, height, width] or
[batch, channels, depth, height, width]. `stride` defaults to `kernel_size`. `ceil_mode`
rounds the number of windows up instead of down.

>>> lucid.lp_pool3d(lucid.ones(1, 2, 2, 2), 3, 2)
tensor([[[[2.]]]]))"},
                    3);
}

}  // namespace

void add_pool_layer_ops(std::vector<Op>& ops) {
  for (auto make :
       {max_pool1d, max_pool2d, max_pool3d, max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices,
        avg_pool1d, avg_pool2d, avg_pool3d, adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d,
        adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices, lp_pool1d,
        lp_pool2d, lp_pool3d})
    ops.push_back(make());
}

}  // namespace lucid
