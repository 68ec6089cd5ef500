// conv1d, conv2d, conv3d and their transposes, which layers call. They check the arguments and emit `convolution`.

#include "ops/convolution_rules.h"
#include "ops/linalg_rules.h"
#include "ops/rules.h"

namespace lucid {
namespace {

/// Checks x, weight, bias and groups of a convolution or its transpose. `in_axis` and `out_axis` are the weight's
/// dimensions of input and output channels; dimension 0 counts the channels of all groups.
void check_operands(const Call& call, int64_t dimensions, size_t in_axis, size_t out_axis) {
  check_product_dtypes(call, 0, 1);
  if (call.rank(0) != dimensions + 2 && call.rank(0) != dimensions + 1)
    throw ValueError("{}: x must be [batch, channels, ...] or [channels, ...] with {} after the channels, got {}",
                     call.name(), dimensions == 1 ? "one dimension" : std::to_string(dimensions) + " dimensions",
                     type_of(call, 0));
  if (call.rank(1) != dimensions + 2)
    throw ValueError("{}: weight must have {} dimensions, got {}", call.name(), dimensions + 2, type_of(call, 1));
  const Dims& weight = call.shape(1);
  for (int64_t d = 0; d < dimensions; ++d)
    if (weight[static_cast<size_t>(d) + 2] == 0)
      throw ValueError("{}: weight {} has an empty spatial dimension", call.name(), type_of(call, 1));
  const int64_t groups = call.integer("groups");
  if (groups <= 0 || weight[0] % groups != 0)
    throw ValueError("{}: groups must divide dimension 0 of weight {}, got {}", call.name(), type_of(call, 1), groups);
  const SymInt channels = call.shape(0)[static_cast<size_t>(call.rank(0) - dimensions - 1)];
  const int64_t expected = in_axis == 0 ? weight[0] : weight[in_axis] * groups;
  if (channels != expected)
    throw ValueError("{}: x {} has {} channels, but weight {} with {} groups expects {}", call.name(), type_of(call, 0),
                     channels, type_of(call, 1), groups, expected);
  if (!call.has(2)) return;
  check_product_dtypes(call, 0, 2);
  const int64_t outputs = out_axis == 0 ? weight[0] : weight[out_axis] * groups;
  if (call.shape(2) != Dims{outputs})
    throw ValueError("{}: bias must be a vector with one element for each of the {} output channels, got {}",
                     call.name(), outputs, type_of(call, 2));
}

/// The number of zeros before and after each dimension. The attribute has one number for all dimensions, one for each,
/// or two for each.
std::pair<Dims, Dims> paddings(const Call& call, int64_t dimensions) {
  const Dims& given = call.ints("padding");
  Dims low, high;
  for (int64_t d = 0; d < dimensions; ++d) {
    const auto i = static_cast<size_t>(d);
    if (given.rank() == 2 * dimensions) {
      low.push_back(given[2 * i]);
      high.push_back(given[2 * i + 1]);
    } else {
      low.push_back(given.size() == 1 ? given[0] : i < given.size() ? given[i] : SymInt(-1));
      high.push_back(low.back());
    }
  }
  const bool fits = given.size() == 1 || given.rank() == dimensions || given.rank() == 2 * dimensions;
  for (size_t i = 0; i < low.size(); ++i)
    if (!fits || low[i] < 0 || high[i] < 0 || low[i] > INT32_MAX || high[i] > INT32_MAX)
      throw ValueError(
          "{}: padding must be one number, {} (one for each dimension) or {} (before and after each dimension), all "
          "non-negative, got {}",
          call.name(), dimensions, 2 * dimensions, to_string(given));
  return {low, high};
}

/// Applies f to x with a batch dimension, which is added and removed again if x has none.
template <typename F>
Value batched(Emitter& e, const Value& x, int64_t dimensions, F f) {
  if (x.rank() == dimensions + 2) return f(x);
  return e.squeeze(f(e.unsqueeze(x, 0)), Dims{0});
}

/// Operand 2, if there is one.
Operand bias_of(const Call& call, std::span<const Value> in) { return call.has(2) ? Operand(in[2]) : Operand(); }

Op convolution_layer(Op op, int64_t dimensions) {
  op.names.method = false;
  op.dtypes = kNumbers;
  op.decompose = [dimensions](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    check_operands(call, dimensions, 1, 0);
    const Dims stride = numbers_for(call, "stride", dimensions, 1);
    const Dims dilation = numbers_for(call, "dilation", dimensions, 1);
    const auto [low, high] = paddings(call, dimensions);
    const Dims ones(static_cast<size_t>(dimensions), 1);
    for (int64_t d = 0; d < dimensions; ++d) {
      const auto i = static_cast<size_t>(d);
      const SymInt padded = in[0].size(in[0].rank() - dimensions + d) + low[i] + high[i];
      if (dilation[i] * (in[1].size(d + 2) - 1) + 1 > padded)
        throw ValueError(
            "{}: weight {} with dilation {} spans more than the {} padded elements of dimension {} of x {}; "
            "increase the "
            "padding or use a smaller weight",
            call.name(), type_of(call, 1), dilation[i], padded, in[0].rank() - dimensions + d, type_of(call, 0));
    }
    return {batched(e, in[0], dimensions, [&](const Value& x) {
      return e.convolution(x, in[1], bias_of(call, in), stride, low, high, ones, dilation, call.integer("groups"),
                           false);
    })};
  };
  return op;
}

Op transposed_layer(Op op, int64_t dimensions) {
  op.names.method = false;
  op.dtypes = kNumbers;
  op.decompose = [dimensions](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    check_operands(call, dimensions, 0, 1);
    const Dims stride = numbers_for(call, "stride", dimensions, 1);
    const Dims dilation = numbers_for(call, "dilation", dimensions, 1);
    const Dims padding = numbers_for(call, "padding", dimensions, 0);
    const Dims output_padding = numbers_for(call, "output_padding", dimensions, 0);
    const Dims ones(static_cast<size_t>(dimensions), 1);
    Dims low, high;
    for (int64_t d = 0; d < dimensions; ++d) {
      const auto i = static_cast<size_t>(d);
      if (output_padding[i] >= stride[i] && output_padding[i] >= dilation[i])
        throw ValueError(
            "{}: output_padding must be smaller than stride or dilation, got {} for stride {}, dilation {}",
            call.name(), output_padding[i], stride[i], dilation[i]);
      const SymInt reach = dilation[i] * (in[1].size(d + 2) - 1);
      low.push_back(reach - padding[i]);
      high.push_back(reach - padding[i] + output_padding[i]);
      const SymInt size = in[0].size(in[0].rank() - dimensions + d);
      if (size == 0 || (size - 1) * stride[i] + 1 + low[i] + high[i] - reach <= 0)
        throw ValueError("{}: padding {} leaves dimension {} of the result empty, for x {} and weight {}", call.name(),
                         padding[i], in[0].rank() - dimensions + d, type_of(call, 0), type_of(call, 1));
    }
    return {batched(e, in[0], dimensions, [&](const Value& x) {
      return e.convolution(x, in[1], bias_of(call, in), ones, low, high, stride, dilation, call.integer("groups"),
                           true);
    })};
  };
  return op;
}

Op conv1d() {
  return convolution_layer(
      {
          .signature = "conv1d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], dilation: ints = [1], "
                       "groups: int = 1)",
          .doc =
              R"(Computes a 1-d convolution (cross-correlation) of `x` [batch, in, length], or [in, length] without a
batch, with `weight` [out, in / groups, taps], and adds `bias` [out]. All operands must have the same dtype.
`stride` is the step between outputs and `dilation` the step between taps. `padding` is the number of zeros on both
sides: one number, one for each dimension, or two for each dimension (before and after). In Python it may also be
"same", which keeps the size and needs stride 1, or "valid", which means no padding. `groups` divides the channels
into groups that are convolved separately. Raises ValueError if the weight is larger than the padded input.

>>> lucid.conv1d(lucid.tensor([[1., 2., 3., 4.]]), lucid.tensor([[[1., 1.]]]))
tensor([[3., 5., 7.]]))",
          .samples = std::vector<Sample>{{{normal({2, 3, 9}), normal({4, 3, 3}), normal({4})}},
                                         {{normal({3, 9}), normal({4, 3, 2}), absent()}}} +
                     with({{{normal({2, 4, 19}), normal({6, 2, 3}), normal({6})}}},
                          {{"stride", Dims{2}}, {"padding", Dims{3}}, {"dilation", Dims{2}}, {"groups", int64_t{2}}}),
      },
      1);
}

Op conv2d() {
  return convolution_layer(
      {
          .signature = "conv2d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], dilation: ints = [1], "
                       "groups: int = 1)",
          .doc =
              R"(Computes a 2-d convolution (cross-correlation) of `x` [batch, in, height, width], or
[in, height, width] without a batch, with `weight` [out, in / groups, rows, columns], and adds `bias` [out]. All
operands must have the same dtype. `stride` is the step between outputs and `dilation` the step between taps.
`padding` is the number of zeros on both sides: one number, one for each dimension, or two for each dimension
(before and after). In Python it may also be "same", which keeps the size and needs stride 1, or "valid", which
means no padding. `groups` divides the channels into groups that are convolved separately. Raises ValueError if the
weight is larger than the padded input.

>>> lucid.conv2d(lucid.ones(1, 1, 3, 3), lucid.ones(1, 1, 2, 2))
tensor([[[[4., 4.],
          [4., 4.]]]]))",
          .samples =
              std::vector<Sample>{{{normal({2, 3, 6, 7}), normal({4, 3, 3, 2}), normal({4})}},
                                  {{normal({3, 6, 7}), normal({4, 3, 3, 2}), absent()}}} +
              with({{{normal({2, 4, 9, 8}), normal({6, 2, 3, 3}), normal({6})}}},
                   {{"stride", Dims{2, 1}}, {"padding", Dims{1}}, {"dilation", Dims{1, 2}}, {"groups", int64_t{2}}}) +
              with({{{normal({1, 3, 5, 6}), normal({20, 3, 3, 3}), normal({20})}}}, {{"padding", Dims{1}}}) +
              with({{{normal({1, 4, 5, 18}), normal({4, 1, 3, 3}), absent()}}},
                   {{"padding", Dims{1}}, {"groups", int64_t{4}}}),
      },
      2);
}

Op conv3d() {
  return convolution_layer(
      {
          .signature = "conv3d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], dilation: ints = [1], "
                       "groups: int = 1)",
          .doc =
              R"(Computes a 3-d convolution (cross-correlation) of `x` [batch, in, depth, height, width], or
[in, depth, height, width] without a batch, with `weight` [out, in / groups, depth, rows, columns], and adds `bias`
[out]. All operands must have the same dtype. `stride` is the step between outputs and `dilation` the step between
taps. `padding` is the number of zeros on both sides: one number, one for each dimension, or two for each dimension
(before and after). In Python it may also be "same", which keeps the size and needs stride 1, or "valid", which
means no padding. `groups` divides the channels into groups that are convolved separately. Raises ValueError if the
weight is larger than the padded input.

>>> lucid.conv3d(lucid.ones(1, 1, 2, 2, 2), lucid.ones(1, 1, 2, 2, 2)).item()
8.0)",
          .samples = std::vector<Sample>{{{normal({1, 2, 4, 5, 4}), normal({3, 2, 2, 3, 2}), normal({3})}}} +
                     with({{{normal({2, 2, 3, 4, 3}), normal({2, 1, 3, 2, 3}), absent()}}},
                          {{"stride", Dims{1, 2, 1}}, {"padding", Dims{1, 0, 1}}, {"groups", int64_t{2}}}),
      },
      3);
}

Op conv_transpose1d() {
  return transposed_layer(
      {
          .signature = "conv_transpose1d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], "
                       "output_padding: ints = [0], groups: int = 1, dilation: ints = [1])",
          .doc =
              R"(Computes the transpose of a conv1d with the weight `weight` [in, out / groups, taps], which is its
gradient with respect to the input, and adds `bias` [out]. `x` is [batch, in, length], or [in, length] without a
batch. Each spatial size n becomes (n - 1) * stride - 2 * padding + dilation * (taps - 1) + output_padding + 1.
`output_padding` must be smaller than the stride or the dilation.

>>> lucid.conv_transpose1d(lucid.tensor([[1., 2.]]), lucid.tensor([[[1., 10.]]]), stride=2)
tensor([[ 1., 10.,  2., 20.]]))",
          .samples = std::vector<Sample>{{{normal({2, 3, 5}), normal({3, 4, 3}), normal({4})}}} +
                     with({{{normal({4, 5}), normal({4, 2, 3}), normal({4})}}}, {{"stride", Dims{3}},
                                                                                 {"padding", Dims{1}},
                                                                                 {"output_padding", Dims{2}},
                                                                                 {"dilation", Dims{2}},
                                                                                 {"groups", int64_t{2}}}),
      },
      1);
}

Op conv_transpose2d() {
  return transposed_layer(
      {
          .signature = "conv_transpose2d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], "
                       "output_padding: ints = [0], groups: int = 1, dilation: ints = [1])",
          .doc =
              R"(Computes the transpose of a conv2d with the weight `weight` [in, out / groups, rows, columns], which
is its gradient with respect to the input, and adds `bias` [out]. `x` is [batch, in, height, width], or
[in, height, width] without a batch. Each spatial size n becomes
(n - 1) * stride - 2 * padding + dilation * (taps - 1) + output_padding + 1. `output_padding` must be smaller than
the stride or the dilation.

>>> lucid.conv_transpose2d(lucid.ones(1, 1, 2, 2), lucid.ones(1, 1, 2, 2))
tensor([[[[1., 2., 1.],
          [2., 4., 2.],
          [1., 2., 1.]]]]))",
          .samples = std::vector<Sample>{{{normal({2, 3, 4, 5}), normal({3, 4, 3, 2}), normal({4})}}} +
                     with({{{normal({1, 4, 3, 5}), normal({4, 3, 3, 3}), absent()}}}, {{"stride", Dims{2, 3}},
                                                                                       {"padding", Dims{1, 2}},
                                                                                       {"output_padding", Dims{1, 2}},
                                                                                       {"groups", int64_t{2}}}),
      },
      2);
}

Op conv_transpose3d() {
  return transposed_layer(
      {
          .signature = "conv_transpose3d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], "
                       "output_padding: ints = [0], groups: int = 1, dilation: ints = [1])",
          .doc =
              R"(Computes the transpose of a conv3d with the weight `weight` [in, out / groups, depth, rows, columns],
which is its gradient with respect to the input, and adds `bias` [out]. `x` is [batch, in, depth, height, width], or
[in, depth, height, width] without a batch. Each spatial size n becomes
(n - 1) * stride - 2 * padding + dilation * (taps - 1) + output_padding + 1. `output_padding` must be smaller than
the stride or the dilation.

>>> lucid.conv_transpose3d(lucid.ones(1, 1, 1, 1, 1), lucid.ones(1, 2, 2, 2, 2)).shape
(1, 2, 2, 2, 2))",
          .samples = with({{{normal({1, 2, 2, 3, 2}), normal({2, 3, 2, 2, 3}), normal({3})}}},
                          {{"stride", Dims{2}}, {"padding", Dims{0, 1, 1}}}),
      },
      3);
}

}  // namespace

void add_convolution_layer_ops(std::vector<Op>& ops) {
  for (auto make : {conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d})
    ops.push_back(make());
}

}  // namespace lucid
