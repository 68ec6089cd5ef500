#include "schedule/convolution.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "ir/node_call.h"
#include "schedule/kernel_writer.h"
#include "schedule/kernels.h"

namespace lucid {
namespace convolution {
namespace {

using loop::Builder;
using loop::kLanes;
using loop::Value;

int64_t round_up(int64_t x, int64_t y) { return (x + y - 1) / y * y; }

BufferUse use_of(const MemoryOperand& operand) {
  return {operand.kind, operand.id, operand.geometry.offset * static_cast<int64_t>(size_of(operand.dtype))};
}

Images images_of(const MemoryOperand& operand) {
  const Geometry& geometry = operand.geometry;
  Images images{.use = use_of(operand), .dtype = operand.dtype};
  // The stride of an axis of size 1 is irrelevant. A fixed value lets equal cases share kernels.
  const auto stride = [&](size_t d, SymInt fallback) {
    return geometry.sizes[d] == 1 ? fallback : geometry.strides[d];
  };
  images.batch = stride(0, 0);
  images.channel = stride(1, 0);
  const size_t missing = kAxes + 2 - geometry.sizes.size();
  for (size_t d = 2; d < geometry.sizes.size(); ++d) images.axes[d - 2 + missing] = stride(d, d - 2 + missing == 2);
  return images;
}

/// x with its padding, as the taps read it, with channels rounded up to a multiple of `multiple`.
ChannelsLast padded_input(Schedule& schedule, const Problem& problem, int64_t channels, int64_t multiple = 1) {
  ChannelsLast result{.groups = problem.shape.groups, .channels = round_up(channels, multiple)};
  std::array<CopiedAxis, kAxes> axes;
  for (size_t d = 0; d < kAxes; ++d) {
    const ConvolutionAxis& axis = problem.axis(d);
    result.sizes[d] = axis.extent();
    axes[d] = {.input = axis.input, .low = axis.low, .step = axis.input_dilation};
  }
  result.use = schedule.new_scratch(problem.shape.batch * result.image(), compute_dtype(problem.dtype));
  schedule.steps.push_back(channels_last_step(problem, problem.x, channels, axes, result));
  return result;
}

/// The gradient of the result, with channels rounded up to whole vectors. Fewer channels than a vector are not rounded
/// up: a vector load then extends into the next pixels, and the last one past the end.
ChannelsLast padded_gradient(Schedule& schedule, const Problem& problem) {
  const int64_t channels = problem.shape.out_channels;
  ChannelsLast result{.groups = problem.shape.groups,
                      .channels = channels < kLanes ? channels : round_up(channels, kLanes)};
  std::array<CopiedAxis, kAxes> axes;
  for (size_t d = 0; d < kAxes; ++d) {
    result.sizes[d] = problem.axis(d).output;
    axes[d] = {.input = problem.axis(d).output};
  }
  result.use = schedule.new_scratch(problem.shape.batch * result.image() + kLanes, compute_dtype(problem.dtype));
  schedule.steps.push_back(channels_last_step(problem, problem.y, channels, axes, result));
  return result;
}

/// Whether every tap of every output reads an element of x, and kernels can read x in place.
bool reads_in_place(const Problem& problem) {
  if (problem.dtype != compute_dtype(problem.dtype) || problem.x.axes[2] != 1) return false;
  return std::ranges::all_of(problem.shape.axes, [](const ConvolutionAxis& axis) {
    return axis.low == 0 && axis.input_dilation == 1 && axis.extent() <= axis.input;
  });
}

/// x with its padding, with separate channels as in x.
Images padded_planes(Schedule& schedule, const Problem& problem) {
  const ConvolutionShape& shape = problem.shape;
  ChannelsLast planes{.groups = shape.groups * shape.in_channels, .channels = 1};
  std::array<CopiedAxis, kAxes> axes;
  for (size_t d = 0; d < kAxes; ++d) {
    planes.sizes[d] = problem.axis(d).extent();
    axes[d] = {.input = problem.axis(d).input, .low = problem.axis(d).low, .step = problem.axis(d).input_dilation};
  }
  const Dtype dtype = compute_dtype(problem.dtype);
  planes.use = schedule.new_scratch(shape.batch * planes.image() + kLanes, dtype);
  schedule.steps.push_back(channels_last_step(problem, problem.x, 1, axes, planes));
  return {.use = planes.use,
          .dtype = dtype,
          .batch = planes.image(),
          .channel = planes.group(),
          .axes = {planes.plane(), planes.row(), 1}};
}

void schedule_direct(Schedule& schedule, const Problem& problem, const DirectBlocking& blocking) {
  const bool in_place = reads_in_place(problem);
  const Images x = in_place ? problem.x : padded_planes(schedule, problem);
  schedule.steps.push_back(direct_step(problem, blocking, x, !in_place));
}

void schedule_forward(Schedule& schedule, const Problem& problem, const Registers& registers) {
  const contraction::RegisterTile tile =
      contraction::choose_tile(problem.axis(2).output, problem.shape.out_channels, problem.dtype, registers);
  const int64_t panels = (problem.shape.out_channels + tile.columns() - 1) / tile.columns();
  const ChannelsLast x = padded_input(schedule, problem, problem.shape.in_channels);
  const BufferUse packed = schedule.new_scratch(problem.shape.groups * panels * problem.terms() * tile.columns(),
                                                compute_dtype(problem.dtype));
  schedule.steps.push_back(pack_weight_step(problem, tile.columns(), packed));
  schedule.steps.push_back(tile_step(problem, tile, x, packed));
}

void schedule_by_weight(Schedule& schedule, const Problem& given, const Registers& registers) {
  Problem problem = given;
  const bool by_lane = is_depthwise(given);
  if (by_lane) {
    // The groups become output channels of one group, each with its own input channel.
    problem.shape.out_channels = problem.shape.groups;
    problem.shape.groups = 1;
    problem.weight_strides.out = problem.weight_strides.group;
  }
  const WeightBlocking blocking = choose_weight_blocking(problem, by_lane, registers);
  const ChannelsLast x = by_lane ? padded_input(schedule, problem, problem.shape.out_channels, kLanes)
                                 : padded_input(schedule, problem, problem.shape.in_channels);
  const ChannelsLast y = padded_gradient(schedule, problem);
  const BufferUse sums = schedule.new_scratch(
      blocking.chunks * problem.shape.groups * problem.terms() * blocking.columns, compute_dtype(problem.dtype));
  schedule.steps.push_back(weight_tile_step(problem, blocking, x, y, sums));
  schedule.steps.push_back(weight_result_step(problem, blocking, sums));
}

/// Whether the convolution is a product of the weight with the pixels of each image, in the same order: it has one tap.
bool is_product(const Problem& problem) {
  const ConvolutionShape& shape = problem.shape;
  if (shape.groups != 1 || shape.taps() != 1 || problem.has_bias || shape.outputs() == 1) return false;
  int64_t pixels = 1;
  for (size_t d = kAxes; d-- > 0;) {
    const ConvolutionAxis& axis = problem.axis(d);
    if (axis.stride != 1 || axis.low != 0 || axis.input_dilation != 1 || axis.output != axis.input) return false;
    if (axis.input != 1 && problem.x.axes[d] != pixels) return false;
    pixels *= axis.input;
  }
  return is_float(problem.dtype);
}

void schedule_product(Schedule& schedule, const Problem& problem) {
  const ConvolutionShape& shape = problem.shape;
  const int64_t pixels = shape.outputs();
  const auto operand = [&](const BufferUse& use, Dims sizes, Dims strides, int64_t offset) {
    const int64_t start = use.byte_offset / static_cast<int64_t>(size_of(problem.dtype));
    return MemoryOperand{use.index, problem.dtype, {std::move(sizes), std::move(strides), start + offset}, use.kind};
  };
  const auto& weight = problem.weight_strides;
  schedule_contraction(
      schedule,
      operand(problem.weight, {shape.batch, shape.out_channels, shape.in_channels}, {0, weight.out, weight.in},
              weight.start),
      operand(problem.x.use, {shape.batch, shape.in_channels, pixels}, {problem.x.batch, problem.x.channel, 1}, 0),
      operand(problem.y.use, {shape.batch, shape.out_channels, pixels}, {shape.out_channels * pixels, pixels, 1}, 0));
}

/// Stores empty sums: zeros, or the bias. The result has `planes` planes of `size` elements each.
KernelStep empty_sum_step(const Problem& problem, const BufferUse& result, int64_t planes, int64_t size) {
  KernelWriter writer("convolution_empty");
  Builder& builder = writer.builder();
  const loop::BufferRef out = writer.buffer(result, problem.dtype);
  std::optional<loop::BufferRef> bias;
  if (problem.has_bias) bias = writer.buffer(problem.bias, problem.dtype);
  const Value channels = writer.param(problem.shape.groups * problem.shape.out_channels);
  const Value stride = writer.param(problem.bias_stride);
  const Value length = writer.param(size);
  builder.for_loop(builder.begin(), builder.end(), 1, [&](Value plane) {
    const Value channel = builder.binary(loop::Code::kRem, plane, channels);
    const Value value = bias ? builder.load(*bias, channel * stride)
                             : builder.convert(builder.constant(Dtype::kF32, 0.0), problem.dtype);
    builder.for_loop(builder.index(0), length, 1, [&](Value i) { builder.store(out, plane * length + i, value); });
  });
  return writer.finish(planes, static_cast<double>(size));
}

void schedule_problem(Schedule& schedule, const Problem& problem, bool by_weight, const Registers& registers) {
  const ConvolutionShape& shape = problem.shape;
  if (by_weight) {
    const int64_t elements = numel(shape.weight_shape());
    if (elements == 0) return;
    if (shape.batch * shape.outputs() == 0) {
      schedule.steps.push_back(empty_sum_step(problem, problem.weight, 1, elements));
    } else if (schedule.target.has_groups() && suits_groups(problem)) {
      schedule_groups(schedule, problem, true);
    } else {
      schedule_by_weight(schedule, problem, registers);
    }
    return;
  }
  const int64_t planes = shape.batch * shape.groups * shape.out_channels;
  if (planes * shape.outputs() == 0) return;
  if (problem.terms() == 0) {
    schedule.steps.push_back(empty_sum_step(problem, problem.y.use, planes, shape.outputs()));
  } else {
    if (is_product(problem)) {
      schedule_product(schedule, problem);
    } else if (schedule.target.has_groups() && suits_groups(problem)) {
      schedule_groups(schedule, problem, false);
    } else if (const auto blocking = choose_direct_blocking(problem, registers)) {
      schedule_direct(schedule, problem, *blocking);
    } else {
      schedule_forward(schedule, problem, registers);
    }
  }
}

}  // namespace

int64_t Problem::work() const { return shape.batch * shape.groups * shape.out_channels * shape.outputs() * terms(); }

}  // namespace convolution

void schedule_convolution(Schedule& schedule, const IRGraph& graph, const Group& group) {
  const IRNode& node = graph.nodes[group.root()];
  const bool by_weight = std::get<ConvolutionLowering>(node.op->lowering).by_weight;
  const NodeCall call(graph, node);
  convolution::Problem problem{.shape = convolution_shape(call.call())};
  problem.shape.axes.insert(problem.shape.axes.begin(), convolution::kAxes - problem.shape.axes.size(),
                            ConvolutionAxis{});
  const MemoryOperand x = memory_of(schedule, graph, node.inputs[0].id);
  const MemoryOperand second = memory_of(schedule, graph, node.inputs[1].id);
  const MemoryOperand result = memory_of(schedule, graph, node.outputs[0]);
  const MemoryOperand& weight = by_weight ? result : second;
  LUCID_CHECK(is_contiguous(result.geometry.sizes, result.geometry.strides),
              "convolution: the result must be contiguous, but has strides {}",
              to_string(DimsView(result.geometry.strides)));
  problem.dtype = result.dtype;
  problem.x = convolution::images_of(x);
  problem.y = convolution::images_of(by_weight ? second : result);
  problem.weight = convolution::use_of(weight);
  Dims strides = weight.geometry.strides;
  while (strides.size() < convolution::kAxes + 2) strides.insert(2, 0);
  problem.weight_strides = problem.shape.weight_strides(strides);
  problem.has_bias = !by_weight && node.inputs[2].id >= 0;
  if (problem.has_bias) {
    const MemoryOperand bias = memory_of(schedule, graph, node.inputs[2].id);
    problem.bias = convolution::use_of(bias);
    problem.bias_stride = bias.geometry.strides[0];
  }
  convolution::schedule_problem(schedule, problem, by_weight, schedule.target.registers);
}

}  // namespace lucid
