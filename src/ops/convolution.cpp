// Convolution and its gradient with respect to the weight, the primitives behind all convolution layers.
// docs/decisions/0006-convolution.md specifies their order of additions.

#include "ops/convolution_rules.h"
#include "ops/linalg_rules.h"
#include "ops/reference.h"
#include "ops/reference_index.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// x + y; integers wrap.
template <typename T>
T sum_of(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return wrapped<T>(bits_of(x) + bits_of(y));
  else
    return x + y;
}

/// A sum of products: chains of 512 products, whose sums are added in order.
template <typename T>
class ChainSum {
 public:
  void add(T x, T y) {
    constexpr int64_t kChain = 512;
    if (count_ > 0 && count_ % kChain == 0) close();
    if constexpr (std::is_floating_point_v<T>) {
      chain_ = std::fma(x, y, chain_);
    } else {
      chain_ = wrapped<T>(bits_of(x) * bits_of(y) + bits_of(chain_));
    }
    ++count_;
  }
  T total() {
    close();
    return total_;
  }

 private:
  void close() {
    total_ = first_ ? chain_ : sum_of(total_, chain_);
    first_ = false;
    chain_ = T(0);
  }

  T chain_ = T(0);
  T total_ = T(0);
  int64_t count_ = 0;
  bool first_ = true;
};

/// The offset within one image and channel of the input element that output p reads at tap t, or -1 for a zero.
int64_t input_offset(const ConvolutionShape& shape, const Dims& p, const Dims& t) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.axes.size(); ++d) {
    const ConvolutionAxis& axis = shape.axes[d];
    const int64_t at = p[d] * axis.stride + t[d] * axis.dilation - axis.low;
    if (at < 0 || at % axis.input_dilation != 0 || at / axis.input_dilation >= axis.input) return -1;
    offset = offset * axis.input + at / axis.input_dilation;
  }
  return offset;
}

Dims spatial(const ConvolutionShape& shape, SymInt ConvolutionAxis::* size) {
  Dims dims;
  for (const ConvolutionAxis& axis : shape.axes) dims.push_back(axis.*size);
  return dims;
}

using WeightStrides = ConvolutionShape::WeightStrides;

WeightStrides strides_of_weight(const ConvolutionShape& shape) {
  return shape.weight_strides(contiguous_strides(shape.weight_shape()));
}

int64_t weight_offset(const WeightStrides& strides, int64_t group, int64_t out, int64_t in, const Dims& tap) {
  int64_t offset = strides.start + group * strides.group + out * strides.out + in * strides.in;
  for (size_t d = 0; d < tap.size(); ++d) offset += tap[d] * strides.taps[d];
  return offset;
}

void reference_convolution(HostCall& call) {
  const TensorType type = infer_types(call).front();
  const HostArray out = call.make_output(type);
  const ConvolutionShape shape = convolution_shape(call);
  const WeightStrides strides = strides_of_weight(shape);
  const int64_t plane = numel(spatial(shape, &ConvolutionAxis::input));
  dispatch<Domain::kNumbers>(type.dtype, [&]<typename T>() {
    const auto x = read_operand<T>(call, 0, type.dtype, call.shape(0));
    const auto w = read_operand<T>(call, 1, type.dtype, call.shape(1));
    std::vector<T> bias;
    if (call.has(2)) bias = read_operand<T>(call, 2, type.dtype, call.shape(2));
    int64_t at = 0;
    for_each_index(type.shape, [&](const Dims& index) {
      const int64_t group = index[1] / shape.out_channels;
      const Dims p(index.begin() + 2, index.end());
      const int64_t first = (index[0] * shape.groups + group) * shape.in_channels * plane;
      ChainSum<T> sum;
      for_each_index(spatial(shape, &ConvolutionAxis::kernel), [&](const Dims& tap) {
        const int64_t offset = input_offset(shape, p, tap);
        for (int64_t c = 0; c < shape.in_channels; ++c) {
          const int64_t from = weight_offset(strides, group, index[1] % shape.out_channels, c, tap);
          sum.add(offset < 0 ? T(0) : x[static_cast<size_t>(first + c * plane + offset)], w[static_cast<size_t>(from)]);
        }
      });
      T total = sum.total();
      if (!bias.empty()) total = sum_of(total, bias[static_cast<size_t>(index[1])]);
      write_element(out, at++, total);
    });
  });
}

void reference_convolution_weight(HostCall& call) {
  const TensorType type = infer_types(call).front();
  const HostArray out = call.make_output(type);
  const ConvolutionShape shape = convolution_shape(call);
  const WeightStrides strides = strides_of_weight(shape);
  const int64_t plane = numel(spatial(shape, &ConvolutionAxis::input));
  const int64_t outputs = shape.outputs();
  dispatch<Domain::kNumbers>(type.dtype, [&]<typename T>() {
    const auto x = read_operand<T>(call, 0, type.dtype, call.shape(0));
    const auto g = read_operand<T>(call, 1, type.dtype, call.shape(1));
    Dims sizes{shape.groups, shape.out_channels, shape.in_channels};
    for (const ConvolutionAxis& axis : shape.axes) sizes.push_back(axis.kernel);
    for_each_index(sizes, [&](const Dims& index) {
      const Dims tap(index.begin() + 3, index.end());
      ChainSum<T> sum;
      for (int64_t n = 0; n < shape.batch; ++n) {
        const int64_t from_x = ((n * shape.groups + index[0]) * shape.in_channels + index[2]) * plane;
        int64_t from_g = ((n * shape.groups + index[0]) * shape.out_channels + index[1]) * outputs;
        for_each_index(spatial(shape, &ConvolutionAxis::output), [&](const Dims& p) {
          const int64_t offset = input_offset(shape, p, tap);
          sum.add(offset < 0 ? T(0) : x[static_cast<size_t>(from_x + offset)], g[static_cast<size_t>(from_g++)]);
        });
      }
      write_element(out, weight_offset(strides, index[0], index[1], index[2], tap), sum.total());
    });
  });
}

struct SpatialParameters {
  Dims stride, low, high, input_dilation, dilation;
};

SpatialParameters parameters_of(const Call& call) {
  return {call.ints("stride"), call.ints("low"), {}, call.ints("input_dilation"), call.ints("dilation")};
}

/// The gradient with respect to the input: a convolution of g, dilated by the stride, with the weight, its channels
/// swapped and its taps reversed.
Value input_gradient(Emitter& e, const ConvolutionShape& shape, const Value& g, const Value& weight) {
  SpatialParameters back;
  for (const ConvolutionAxis& axis : shape.axes) {
    const SymInt reach = (axis.kernel - 1) * axis.dilation;
    const SymInt spread = axis.output == 0 ? SymInt(0) : (axis.output - 1) * axis.stride + 1;
    const SymInt low = reach - axis.low;
    back.stride.push_back(axis.input_dilation);
    back.input_dilation.push_back(axis.stride);
    back.dilation.push_back(axis.dilation);
    back.low.push_back(low);
    back.high.push_back((axis.input - 1) * axis.input_dilation + reach + 1 - spread - low);
  }
  return e.convolution(g, weight, {}, back.stride, back.low, back.high, back.input_dilation, back.dilation,
                       shape.groups, !shape.transposed);
}

Values convolution_gradient(Emitter& e, const GradientCall& call, std::span<const Value> g) {
  const ConvolutionShape shape = convolution_shape(call);
  const SpatialParameters parameters = parameters_of(call);
  Values result(3);
  if (call.needs(0)) result[0] = input_gradient(e, shape, g[0], call.in(1));
  if (call.needs(1))
    result[1] = e.convolution_weight(call.in(0), g[0], spatial(shape, &ConvolutionAxis::kernel), parameters.stride,
                                     parameters.low, parameters.input_dilation, parameters.dilation, shape.groups,
                                     shape.transposed);
  if (call.needs(2)) {
    // Each image is summed first: its pixels are contiguous.
    Dims dims;
    for (int64_t d = 2; d < call.rank(0); ++d) dims.push_back(d);
    result[2] = e.sum(e.sum(g[0], dims), Dims{0});
  }
  return result;
}

/// A sample of `convolution`: x and weight, then the parameters of each dimension.
std::vector<Sample> convolution_sample(SampleTensor x, SampleTensor weight, SampleTensor bias,
                                       const SpatialParameters& parameters, int64_t groups = 1,
                                       bool transposed = false) {
  return with({{{std::move(x), std::move(weight), std::move(bias)}}}, {{"stride", parameters.stride},
                                                                       {"low", parameters.low},
                                                                       {"high", parameters.high},
                                                                       {"input_dilation", parameters.input_dilation},
                                                                       {"dilation", parameters.dilation},
                                                                       {"groups", groups},
                                                                       {"transposed", transposed}});
}

Op convolution() {
  return {
      .signature =
          "convolution(x, weight, bias? = None, stride: ints, low: ints, high: ints, input_dilation: ints, "
          "dilation: ints, groups: int = 1, transposed: bool = False)",
      .doc =
          R"(Computes a convolution (cross-correlation) of `x` [batch, in, ...] with `weight`
[out, in / groups, ...] over any number of spatial dimensions, and adds `bias` [out]. The lists have one number for
each spatial dimension: `stride` is the step between outputs and `dilation` the step between taps; `low` and `high`
are the numbers of zeros before and after the input, where a negative number crops it; input_dilation - 1 zeros are
inserted between neighboring input elements. With `transposed`, `weight` is [in, out / groups, ...] and its taps are
reversed.

>>> lucid.convolution(lucid.ones(1, 1, 4), lucid.ones(1, 1, 2), None, [1], [0], [1], [1], [1])
tensor([[[2., 2., 2., 1.]]]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kNumbers,
      .infer = [](const Call& call) -> Types {
        check_product_dtypes(call, 0, 1);
        if (call.has(2)) check_product_dtypes(call, 0, 2);
        check_convolution(call);
        const ConvolutionShape shape = convolution_shape(call);
        LUCID_CHECK(shape.input_shape() == call.shape(0) && shape.weight_shape() == call.shape(1),
                    "convolution: {} and {} do not match", to_string(call.operand(0).type()),
                    to_string(call.operand(1).type()));
        checked_numel(call.name(), shape.output_shape(), size_of(call.dtype(0)));
        return {{call.dtype(0), shape.output_shape()}};
      },
      .lowering = ConvolutionLowering{},
      .reference = reference_convolution,
      .gradient = {.rule = convolution_gradient, .saved_inputs = {0, 1}},
      .samples =
          convolution_sample(normal({2, 3, 7, 9}), normal({5, 3, 3, 2}), normal({5}),
                             {{1, 1}, {1, 0}, {1, 1}, {1, 1}, {1, 1}}) +
          convolution_sample(normal({2, 6, 9, 8}), normal({4, 3, 3, 3}), absent(),
                             {{2, 2}, {1, 2}, {1, 1}, {1, 1}, {1, 2}}, 2) +
          convolution_sample(strided({1, 20, 6, 17}, {0, 1, 340, 20}), strided({18, 20, 3, 3}, {9, 162, 3, 1}),
                             normal({18}), {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}) +
          convolution_sample(normal({2, 4, 5}), normal({4, 3, 3}), normal({6}), {{1}, {-1}, {2}, {3}, {2}}, 2, true) +
          convolution_sample(normal({1, 60, 3, 3}), normal({17, 60, 3, 3}), absent(),
                             {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}) +
          convolution_sample(normal({2, 5, 4, 33}), normal({5, 1, 3, 3}), absent(),
                             {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 5) +
          convolution_sample(normal({1, 5, 9, 9}), normal({5, 1, 3, 3}), normal({5}),
                             {{2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 5) +
          convolution_sample(normal({2, 1, 9, 20}), normal({3, 1, 3, 5}), normal({3}),
                             {{1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}}) +
          convolution_sample(normal({2, 9, 4, 5}), normal({19, 9, 1, 1}), normal({19}),
                             {{1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}}) +
          convolution_sample(normal({1, 2, 3, 4, 5}), normal({3, 2, 2, 2, 3}), normal({3}),
                             {{1, 2, 1}, {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}}) +
          convolution_sample(normal({0, 2, 5}), normal({3, 2, 3}), absent(), {{1}, {0}, {0}, {1}, {1}}) +
          convolution_sample(normal({2, 0, 5}), normal({3, 0, 3}), normal({3}), {{1}, {0}, {0}, {1}, {1}}),
  };
}

/// The shape rule of `convolution_weight`.
Types infer_weight(const Call& call) {
  check_product_dtypes(call, 0, 1);
  check_convolution(call);
  const ConvolutionShape shape = convolution_shape(call);
  LUCID_CHECK(shape.input_shape() == call.shape(0) && shape.output_shape() == call.shape(1),
              "convolution_weight: {} and {} do not match", to_string(call.operand(0).type()),
              to_string(call.operand(1).type()));
  checked_numel(call.name(), shape.weight_shape(), size_of(call.dtype(0)));
  return {{call.dtype(0), shape.weight_shape()}};
}

std::vector<Sample> weight_sample(SampleTensor x, SampleTensor g, const Dims& kernel,
                                  const SpatialParameters& parameters, int64_t groups = 1, bool transposed = false) {
  return with({{{std::move(x), std::move(g)}}}, {{"kernel", kernel},
                                                 {"stride", parameters.stride},
                                                 {"low", parameters.low},
                                                 {"input_dilation", parameters.input_dilation},
                                                 {"dilation", parameters.dilation},
                                                 {"groups", groups},
                                                 {"transposed", transposed}});
}

Op convolution_weight() {
  return {
      .signature =
          "convolution_weight(x, grad, kernel: ints, stride: ints, low: ints, input_dilation: ints, "
          "dilation: ints, groups: int = 1, transposed: bool = False)",
      .doc =
          R"(Computes the gradient with respect to the weight of a `convolution` of `x` whose result has the
gradient `grad`. `kernel` holds the spatial sizes of the weight; the other arguments are those of `convolution`.

>>> lucid.convolution_weight(lucid.ones(1, 1, 4), lucid.ones(1, 1, 3), [2], [1], [0], [1], [1])
tensor([[[3., 3.]]]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kNumbers,
      .infer = infer_weight,
      .lowering = ConvolutionLowering{.by_weight = true},
      .reference = reference_convolution_weight,
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const ConvolutionShape shape = convolution_shape(call);
                     const SpatialParameters parameters = parameters_of(call);
                     Values result(2);
                     if (call.needs(0)) result[0] = input_gradient(e, shape, call.in(1), g[0]);
                     if (call.needs(1)) {
                       Dims high;
                       for (const ConvolutionAxis& axis : shape.axes) {
                         const SymInt spread = axis.input == 0 ? SymInt(0) : (axis.input - 1) * axis.input_dilation + 1;
                         high.push_back(axis.extent() - spread - axis.low);
                       }
                       result[1] = e.convolution(call.in(0), g[0], {}, parameters.stride, parameters.low, high,
                                                 parameters.input_dilation, parameters.dilation, shape.groups,
                                                 shape.transposed);
                     }
                     return result;
                   },
                   .saved_inputs = {0, 1}},
      .samples =
          weight_sample(normal({2, 3, 7, 9}), normal({2, 5, 7, 9}), {3, 2}, {{1, 1}, {1, 0}, {}, {1, 1}, {1, 1}}) +
          weight_sample(normal({2, 6, 9, 8}), normal({2, 4, 5, 4}), {3, 3}, {{2, 2}, {1, 2}, {}, {1, 1}, {1, 2}}, 2) +
          weight_sample(normal({6, 20, 6, 17}), strided({6, 40, 6, 17}, {4080, 1, 680, 40}), {3, 3},
                        {{1, 1}, {1, 1}, {}, {1, 1}, {1, 1}}) +
          weight_sample(normal({2, 4, 5}), normal({2, 6, 10}), {3}, {{1}, {-1}, {}, {3}, {2}}, 2, true) +
          weight_sample(normal({2, 5, 4, 33}), normal({2, 5, 4, 33}), {3, 3}, {{1, 1}, {1, 1}, {}, {1, 1}, {1, 1}}, 5) +
          weight_sample(normal({9, 1, 9, 20}), normal({9, 3, 7, 16}), {3, 5}, {{1, 1}, {0, 0}, {}, {1, 1}, {1, 1}}) +
          weight_sample(normal({1, 2, 3, 4, 5}), normal({1, 3, 2, 3, 5}), {2, 2, 3},
                        {{1, 2, 1}, {0, 1, 1}, {}, {1, 1, 1}, {1, 1, 1}}) +
          weight_sample(normal({0, 2, 5}), normal({0, 3, 3}), {3}, {{1}, {0}, {}, {1}, {1}}),
  };
}

}  // namespace

void add_convolution_ops(std::vector<Op>& ops) {
  for (auto make : {convolution, convolution_weight}) ops.push_back(make());
}

}  // namespace lucid
