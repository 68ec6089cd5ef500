#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>

#include "schedule/convolution.h"
#include "schedule/group_product.h"

// Convolutions on gpus: products with the matrix of the windows of x, which has a row for each term of a sum (a tap and
// an input channel) and a column for each pixel of the output. Its elements are read from x when they are needed.
namespace lucid::convolution {
namespace {

using contraction::GroupOperand;
using contraction::RegisterTile;
using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;
using Values = std::vector<Value>;

/// With fewer terms or output channels, most of a tile would be unused.
constexpr int64_t kMinTileSize = 8;
/// Maximum size of the sums of chains that are added by a step of their own.
constexpr int64_t kMaxSumBytes = int64_t{64} << 20;

/// The coordinates of pixels and terms, and offsets within an image or a weight. They are i32: gpus divide them faster
/// than i64.
class Coordinates {
 public:
  Coordinates(KernelWriter& writer, const Problem& problem)
      : problem_(problem), writer_(writer), builder_(writer.builder()) {
    channels_ = param(problem.shape.in_channels);
    for (size_t d = 0; d < kAxes; ++d) outputs_[d] = param(problem.axis(d).output);
  }

  Value param(int64_t number) { return small(writer_.param(number)); }
  Values params(std::initializer_list<int64_t> numbers) {
    Values result;
    for (const int64_t number : numbers) result.push_back(param(number));
    return result;
  }
  Value small(Value number) { return builder_.convert(number, Dtype::kI32); }
  Value small(int64_t number) { return builder_.constant(Dtype::kI32, number); }

  /// The input channel of a term, and its tap along each axis.
  Values term(Value number) {
    Value taps = small(number) / channels_;
    Values result(kAxes + 1);
    result[0] = small(number) - taps * channels_;
    for (size_t d = kAxes; d-- > 0;)
      result[d + 1] = last_digit(taps, problem_.axis(d).kernel, small(problem_.axis(d).kernel));
    return result;
  }

  /// The image of a pixel, counted through the batch, and its position along each axis.
  Values pixel(Value number) {
    Value rest = small(number);
    Values result(kAxes + 1);
    for (size_t d = kAxes; d-- > 0;) result[d + 1] = last_digit(rest, problem_.axis(d).output, outputs_[d]);
    result[0] = rest;
    return result;
  }

  /// The sum of products of coordinates and strides, an i64.
  Value offset(std::span<const Value> coordinates, std::span<const Value> strides) {
    Value sum = coordinates[0] * strides[0];
    for (size_t i = 1; i < coordinates.size(); ++i) sum = sum + coordinates[i] * strides[i];
    return builder_.convert(sum, Dtype::kI64);
  }

 private:
  /// The last digit of a number whose digits are below `size`. The number loses it.
  Value last_digit(Value& number, int64_t known_size, Value size) {
    if (known_size == 1) return small(0);
    const Value rest = number / size;
    const Value digit = number - rest * size;
    number = rest;
    return digit;
  }

  const Problem& problem_;
  KernelWriter& writer_;
  Builder& builder_;
  Value channels_;
  Value outputs_[kAxes];
};

/// The elements of x that the windows consist of.
class Windows {
 public:
  Windows(KernelWriter& writer, const Problem& problem, Coordinates& coordinates, BufferRef x)
      : problem_(problem), coordinates_(coordinates), builder_(writer.builder()), x_(x) {
    image_ = writer.param(problem.x.batch);
    group_ = writer.param(problem.x.channel * problem.shape.in_channels);
    const auto& axes = problem.x.axes;
    strides_ = coordinates.params({problem.x.channel, axes[0], axes[1], axes[2]});
    for (size_t d = 0; d < kAxes; ++d) inputs_[d] = coordinates.param(problem.axis(d).input);
  }

  Value image(Value image) { return builder_.convert(image, Dtype::kI64) * image_; }
  Value group(Value group) { return group * group_; }

  /// The element for a pixel and a term, or 0 outside of x. `start` is the offset of the image and the group.
  Value load(Value start, std::span<const Value> pixel, std::span<const Value> term) {
    const auto small = [&](int64_t number) { return coordinates_.small(number); };
    Values place{term[0]};
    Value mask;
    const auto require = [&](Value condition) { mask = mask ? mask & condition : condition; };
    for (size_t d = 0; d < kAxes; ++d) {
      const ConvolutionAxis& axis = problem_.axis(d);
      Value at = pixel[d + 1] * small(axis.stride) + term[d + 1] * small(axis.dilation) - small(axis.low);
      if (axis.low > 0) require(at >= small(0));
      if (axis.input_dilation != 1) {
        const Value element = at / small(axis.input_dilation);
        require(element * small(axis.input_dilation) == at);
        at = element;
      }
      if (axis.extent() - axis.low > (axis.input - 1) * axis.input_dilation + 1) require(at < inputs_[d]);
      place.push_back(at);
    }
    return builder_.gather(x_, builder_.splat(start + coordinates_.offset(place, strides_)),
                           mask ? builder_.splat(mask) : mask);
  }

 private:
  const Problem& problem_;
  Coordinates& coordinates_;
  Builder& builder_;
  BufferRef x_;
  Value image_;
  Value group_;
  Values strides_;
  Value inputs_[kAxes];
};

/// Places of the weight's elements.
class Weight {
 public:
  Weight(KernelWriter& writer, const Problem& problem, Coordinates& coordinates)
      : coordinates_(coordinates),
        start_(writer.param(problem.weight_strides.start)),
        group_(writer.param(problem.weight_strides.group)),
        out_(writer.param(problem.weight_strides.out)) {
    const auto& strides = problem.weight_strides;
    strides_ = coordinates.params({strides.in, strides.taps[0], strides.taps[1], strides.taps[2]});
  }

  Value channel(Value group, Value out) { return start_ + group * group_ + out * out_; }
  Value term(Value term) { return coordinates_.offset(coordinates_.term(term), strides_); }

 private:
  Coordinates& coordinates_;
  Value start_;
  Value group_;
  Value out_;
  Values strides_;
};

std::string name_for(const char* what, const Problem& problem, RegisterTile tile) {
  return what + std::string(name_of(problem.dtype)) + contraction::name_of(tile);
}

/// The product of the weight with the windows, for each image and group.
KernelStep forward_step(const Problem& problem) {
  const ConvolutionShape& shape = problem.shape;
  const Dtype dtype = compute_dtype(problem.dtype);
  const RegisterTile tile =
      contraction::choose_group_tile(problem.dtype, shape.batch * shape.groups, shape.out_channels, shape.outputs());
  KernelWriter writer(name_for("convolution_", problem, tile));
  Builder& builder = writer.builder();
  const BufferRef x = writer.buffer(problem.x.use, problem.dtype);
  const BufferRef weights = writer.buffer(problem.weight, problem.dtype);
  const BufferRef y = writer.buffer(problem.y.use, problem.dtype);
  BufferRef biases;
  if (problem.has_bias) biases = writer.buffer(problem.bias, problem.dtype);
  Coordinates coordinates(writer, problem);
  Windows windows(writer, problem, coordinates, x);
  Weight weight(writer, problem, coordinates);
  const Value groups = writer.param(shape.groups);
  const Value outs = writer.param(shape.out_channels);
  const Value pixels = writer.param(shape.outputs());
  const Value bias_stride = writer.param(problem.bias_stride);
  const auto group_of = [&](Value batch) { return builder.binary(Code::kRem, batch, groups); };

  const GroupOperand a{
      .is_along_k = std::abs(problem.weight_strides.in) <= std::abs(problem.weight_strides.out),
      .place = [&](Value batch, Value out) { return Values{weight.channel(group_of(batch), out)}; },
      .load = [&](std::span<const Value> place,
                  Value k) { return builder.gather(weights, builder.splat(place[0] + weight.term(k))); }};
  const GroupOperand b{.is_along_k = std::abs(problem.x.channel) < std::abs(problem.x.axes[2]),
                       .place =
                           [&](Value batch, Value number) {
                             Values place = coordinates.pixel(number);
                             place[0] = windows.image(batch / groups) + windows.group(group_of(batch));
                             return place;
                           },
                       .load = [&](std::span<const Value> place,
                                   Value k) { return windows.load(place[0], place, coordinates.term(k)); }};
  const auto store = [&](Value batch, Value row, Value column, Value total, Value mask) {
    if (problem.has_bias) {
      const Value bias = builder.load(biases, (group_of(batch) * outs + row) * bias_stride);
      total = total + builder.splat(builder.convert(bias, dtype));
    }
    builder.store(y, (batch * outs + row) * pixels + column, builder.convert(total, problem.dtype), mask);
  };
  return contraction::group_product_step(writer, {.dtype = dtype,
                                                  .tile = tile,
                                                  .batches = shape.batch * shape.groups,
                                                  .m = shape.out_channels,
                                                  .n = shape.outputs(),
                                                  .k = problem.terms(),
                                                  .a = a,
                                                  .b = b,
                                                  .store = store});
}

/// How the gradient with respect to the weight is computed: the product of the windows with the gradient of the result,
/// for each group.
struct WeightSplit {
  RegisterTile tile;
  int64_t chains = 1;   // whose sums are stored separately, if there is memory for them; otherwise 1
  int64_t columns = 0;  // output channels, rounded up to whole vectors
};

WeightSplit choose_split(const Problem& problem) {
  const ConvolutionShape& shape = problem.shape;
  WeightSplit split;
  split.columns = ceil_div(shape.out_channels, kLanes) * kLanes;
  const int64_t chains = ceil_div(shape.batch * shape.outputs(), contraction::kChain);
  const int64_t bytes = chains * shape.groups * problem.terms() * split.columns *
                        static_cast<int64_t>(size_of(compute_dtype(problem.dtype)));
  if (bytes <= kMaxSumBytes) split.chains = chains;
  split.tile =
      contraction::choose_group_tile(problem.dtype, split.chains * shape.groups, problem.terms(), shape.out_channels);
  return split;
}

KernelStep weight_step(const Problem& problem, const WeightSplit& split, const BufferUse& sums_use) {
  const ConvolutionShape& shape = problem.shape;
  const Dtype dtype = compute_dtype(problem.dtype);
  KernelWriter writer(name_for("convolution_weight_", problem, split.tile));
  Builder& builder = writer.builder();
  const BufferRef x = writer.buffer(problem.x.use, problem.dtype);
  const BufferRef y = writer.buffer(problem.y.use, problem.dtype);
  const BufferRef sums = writer.buffer(sums_use, dtype);
  Coordinates coordinates(writer, problem);
  Windows windows(writer, problem, coordinates, x);
  const Value y_image = writer.param(problem.y.batch);
  const Value y_channel = writer.param(problem.y.channel);
  const Value outs = writer.param(shape.out_channels);
  const Value rows = writer.param(problem.terms());
  const Value columns = writer.param(split.columns);
  const Values y_axes = coordinates.params({problem.y.axes[0], problem.y.axes[1], problem.y.axes[2]});

  const GroupOperand a{.is_along_k = std::abs(problem.x.axes[2]) <= std::abs(problem.x.channel),
                       .place =
                           [&](Value group, Value term) {
                             Values place = coordinates.term(term);
                             place.push_back(windows.group(group));
                             return place;
                           },
                       .load =
                           [&](std::span<const Value> place, Value k) {
                             const Values pixel = coordinates.pixel(k);
                             return windows.load(place.back() + windows.image(pixel[0]), pixel, place);
                           }};
  const GroupOperand b{.is_along_k = std::abs(problem.y.axes[2]) <= std::abs(problem.y.channel),
                       .place = [&](Value group, Value out) { return Values{(group * outs + out) * y_channel}; },
                       .load =
                           [&](std::span<const Value> place, Value k) {
                             const Values pixel = coordinates.pixel(k);
                             const Value image = builder.convert(pixel[0], Dtype::kI64) * y_image;
                             const Value offset = coordinates.offset(std::span(pixel).subspan(1), y_axes);
                             return builder.gather(y, builder.splat(place[0] + image + offset));
                           }};
  const auto store = [&](Value batch, Value row, Value column, Value total, Value mask) {
    builder.store(sums, (batch * rows + row) * columns + column, total, mask);
  };
  return contraction::group_product_step(writer, {.dtype = dtype,
                                                  .tile = split.tile,
                                                  .batches = shape.groups,
                                                  .m = problem.terms(),
                                                  .n = shape.out_channels,
                                                  .k = shape.batch * shape.outputs(),
                                                  .by_chain = split.chains > 1,
                                                  .a = a,
                                                  .b = b,
                                                  .store = store});
}

/// Adds the sums of the chains in order and stores them in the layout of the weight. Items are vectors of output
/// channels.
KernelStep weight_sum_step(const Problem& problem, const WeightSplit& split, const BufferUse& sums_use) {
  const ConvolutionShape& shape = problem.shape;
  KernelWriter writer("convolution_weight_sum_" + std::string(name_of(problem.dtype)));
  Builder& builder = writer.builder();
  const BufferRef sums = writer.buffer(sums_use, compute_dtype(problem.dtype));
  const BufferRef weights = writer.buffer(problem.weight, problem.dtype);
  Coordinates coordinates(writer, problem);
  Weight weight(writer, problem, coordinates);
  const int64_t all = shape.groups * problem.terms() * split.columns;
  const Value outs = writer.param(shape.out_channels);
  const Value terms = writer.param(problem.terms());
  const Value vectors = writer.param(split.columns / kLanes);
  const Value chain_elements = writer.param(all);
  const Value chains = writer.param(split.chains);
  builder.for_loop(builder.begin(), builder.end(), 1, [&](Value item) {
    const Value first = item * builder.index(kLanes);
    const Value out = builder.binary(Code::kRem, item, vectors) * builder.index(kLanes);
    const Value row = item / vectors;
    Value total = builder.load_vector(sums, first);
    if (split.chains > 1) {
      const Values initial{total};
      total = builder.for_loop(builder.index(1), chains, 1, initial, [&](Value chain, std::span<const Value> sum) {
        return Values{sum[0] + builder.load_vector(sums, chain * chain_elements + first)};
      })[0];
    }
    const Value term = builder.binary(Code::kRem, row, terms);
    const Value place = weight.channel(row / terms, out + builder.iota()) + weight.term(term);
    builder.scatter(weights, place, builder.convert(total, problem.dtype), builder.lanes_below(outs - out));
  });
  return writer.finish(all / kLanes, static_cast<double>(split.chains));
}

/// The distance between the first and the last of `count` elements.
int64_t span_of(SymInt count, int64_t stride) { return (count - 1) * std::abs(stride); }

}  // namespace

bool suits_groups(const Problem& problem) {
  const ConvolutionShape& shape = problem.shape;
  if (shape.out_channels < kMinTileSize || problem.terms() < kMinTileSize) return false;
  // Coordinates and offsets within an image or a weight must be i32.
  int64_t x = span_of(shape.in_channels, problem.x.channel);
  int64_t y = 0;
  int64_t positions = 0;
  int64_t weight = span_of(shape.in_channels, problem.weight_strides.in);
  for (size_t d = 0; d < kAxes; ++d) {
    const ConvolutionAxis& axis = problem.axis(d);
    const int64_t extent = axis.extent() + std::abs(axis.low);
    positions = std::max(positions, extent);
    x += span_of(extent, problem.x.axes[d]);
    y += span_of(axis.output, problem.y.axes[d]);
    weight += span_of(axis.kernel, problem.weight_strides.taps[d]);
  }
  const int64_t pixels = shape.batch * shape.outputs();
  return std::max({x, y, weight, positions, problem.terms(), pixels}) < std::numeric_limits<int32_t>::max();
}

void schedule_groups(Schedule& schedule, const Problem& problem, bool by_weight) {
  if (!by_weight) {
    schedule.steps.push_back(forward_step(problem));
    return;
  }
  const WeightSplit split = choose_split(problem);
  const BufferUse sums = schedule.new_scratch(split.chains * problem.shape.groups * problem.terms() * split.columns,
                                              compute_dtype(problem.dtype));
  schedule.steps.push_back(weight_step(problem, split, sums));
  schedule.steps.push_back(weight_sum_step(problem, split, sums));
}

}  // namespace lucid::convolution
