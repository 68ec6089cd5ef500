#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/convolution_rules.h"
#include "schedule/contraction.h"
#include "schedule/schedule.h"

/// Convolutions as kernels. docs/decisions/0006-convolution.md defines the orders of accumulation. Layouts, tiles and
/// the split into items affect only speed.
namespace lucid::convolution {

/// Number of spatial dimensions. Convolutions with fewer have leading ones of size 1.
inline constexpr size_t kAxes = 3;

/// A tensor [batch, channels, ...] in memory, by its strides in elements.
struct Images {
  BufferUse use;
  Dtype dtype = Dtype::kF32;
  int64_t batch = 0;
  int64_t channel = 0;
  std::array<int64_t, kAxes> axes = {};
};

/// The same use with one image of the batch as its tile. `stride` and `elements` are in elements of `dtype`.
inline BufferUse by_image(BufferUse use, int64_t stride, int64_t elements, Dtype dtype) {
  const auto bytes = static_cast<int64_t>(size_of(dtype));
  use.tile = {stride * bytes, elements * bytes};
  return use;
}

/// A convolution or its gradient with respect to the weight. The result is y or the weight.
struct Problem {
  ConvolutionShape shape;  // with kAxes axes
  Dtype dtype = Dtype::kF32;
  Images x;
  Images y;
  BufferUse weight;
  ConvolutionShape::WeightStrides weight_strides;
  BufferUse bias;
  bool has_bias = false;
  int64_t bias_stride = 1;

  const ConvolutionAxis& axis(size_t d) const { return shape.axes[d]; }
  /// Total number of multiplications.
  int64_t work() const;
  /// The contiguous result, with an image as its tile.
  BufferUse y_by_image() const {
    const int64_t elements = shape.groups * shape.out_channels * shape.outputs();
    return by_image(y.use, elements, elements, dtype);
  }
  /// Number of products that are summed for an element of the result of a convolution.
  int64_t terms() const { return shape.taps() * shape.in_channels; }
};

/// A copy with channels innermost, [batch, group, ..., channels], padded with the zeros that the convolution reads.
struct ChannelsLast {
  BufferUse use;
  int64_t groups = 1;
  /// Distance between pixels in elements, of which the first are the pixel's channels.
  int64_t channels = 1;
  std::array<int64_t, kAxes> sizes = {1, 1, 1};

  int64_t row() const { return sizes[2] * channels; }
  int64_t plane() const { return sizes[1] * row(); }
  int64_t group() const { return sizes[0] * plane(); }
  int64_t image() const { return groups * group(); }
};

/// The elements that channels_last_step copies along one axis: `input` elements, the first to index `low` of the
/// target, `step` apart.
struct CopiedAxis {
  int64_t input = 1;
  int64_t low = 0;
  int64_t step = 1;
};

/// Copies images into `target`, in the compute dtype.
KernelStep channels_last_step(const Problem& problem, const Images& images, int64_t channels,
                              const std::array<CopiedAxis, kAxes>& axes, const ChannelsLast& target);

/// Packs a weight into panels of output channels: for each group and panel, terms() rows of tile columns, in the
/// compute dtype.
KernelStep pack_weight_step(const Problem& problem, int64_t columns, const BufferUse& packed);

/// The convolution by register tiles: adjacent pixels of a row by vectors of output channels.
KernelStep tile_step(const Problem& problem, const contraction::RegisterTile& tile, const ChannelsLast& x,
                     const BufferUse& packed);

/// For few output channels: vectors of adjacent pixels, for a few rows and channels at once.
struct DirectBlocking {
  int outs = 1;
  int rows = 1;
  int vectors = 1;
};

/// The blocking of the direct kernel, if it is faster than register tiles.
std::optional<DirectBlocking> choose_direct_blocking(const Problem& problem, const Registers& registers);
/// The convolution of images that are already padded. With `may_overrun`, a vector past their last element may be read.
KernelStep direct_step(const Problem& problem, const DirectBlocking& blocking, const Images& x, bool may_overrun);

/// How the gradient with respect to the weight is split. The rows of a segment are (tap along the last axis, input
/// channel), which are adjacent in memory, or only input channels if the taps are not adjacent. Segments are the other
/// taps. If groups have one channel each, all groups are computed together as lanes, and rows are the taps along the
/// last axis.
struct WeightBlocking {
  contraction::RegisterTile tile;
  int64_t segments = 1;
  int64_t rows = 1;
  bool by_lane = false;
  /// Whether one register tile holds the taps of all segments.
  bool whole = false;
  /// Number of parts of the sum that are computed by separate items.
  int64_t chunks = 1;

  /// Columns of the sums: output channels, rounded up to whole vectors.
  int64_t columns = 0;

  /// Number of segments that are separate items. Within an item, tiles are computed one after another.
  int64_t item_segments() const { return whole ? 1 : segments; }
};

WeightBlocking choose_weight_blocking(const Problem& problem, bool by_lane, const Registers& registers);
/// Computes the sums for each chunk, group, segment, row and column.
KernelStep weight_tile_step(const Problem& problem, const WeightBlocking& blocking, const ChannelsLast& x,
                            const ChannelsLast& y, const BufferUse& sums);
/// Adds the chunks' sums in order and stores them in the layout of the weight.
KernelStep weight_result_step(const Problem& problem, const WeightBlocking& blocking, const BufferUse& sums);

/// On a gpu: the convolution or its gradient with respect to the weight by tiles in shared memory, for problems with
/// enough channels.
bool suits_groups(const Problem& problem);
void schedule_groups(Schedule& schedule, const Problem& problem, bool by_weight);

/// Whether each group has one input channel and one output channel.
inline bool is_depthwise(const Problem& problem) {
  return problem.shape.groups > 1 && problem.shape.in_channels == 1 && problem.shape.out_channels == 1;
}

/// Whether the taps along the last axis are adjacent, so that taps and channels are contiguous.
inline bool has_merged_taps(const Problem& problem) {
  return problem.axis(2).dilation == 1 || problem.axis(2).kernel == 1;
}

/// a * b + c: fused for floats; integers wrap.
loop::Value multiply_add(loop::Builder& builder, loop::Value a, loop::Value b, loop::Value c);

/// The operands of a register tile. The rows' elements are at a + row_offsets[i] + k * a_step, the columns at b + k *
/// b_step.
struct TileOperands {
  loop::BufferRef a_buffer;
  loop::BufferRef b_buffer;
  loop::Value a;
  loop::Value b;
  loop::Value a_step;
  loop::Value b_step;
  std::vector<loop::Value> row_offsets;
  /// Whether rows have one element for each column instead of one for all.
  bool by_lane = false;
  /// Prefetch distance for b in terms; 0 for no prefetch.
  int64_t prefetch_terms = 0;
  /// Whether to prefetch the rows too, which are adjacent.
  bool prefetches_rows = false;
};
/// Continues the chains `sums`, one for each element of the tile, over terms [first, last).
std::vector<loop::Value> accumulate(loop::Builder& builder, const contraction::RegisterTile& tile,
                                    const TileOperands& operands, loop::Value first, loop::Value last,
                                    const std::vector<loop::Value>& sums);

/// The chains over terms [first, last) of a sum whose terms come in runs of `length`. `operands(r)` returns the
/// operands of run r.
template <typename OperandsOf>
std::vector<loop::Value> accumulate_runs(loop::Builder& builder, const contraction::RegisterTile& tile,
                                         loop::Value length, loop::Value first, loop::Value last,
                                         const OperandsOf& operands) {
  const loop::Value zero = builder.index(0);
  const Dtype dtype = operands(zero).b_buffer.dtype;
  const std::vector<loop::Value> zeros(
      static_cast<size_t>(tile.rows * tile.vectors),
      builder.splat(is_float(dtype) ? builder.constant(dtype, 0.0) : builder.constant(dtype, 0)));
  return builder.for_loop(first / length, (last + (length - builder.index(1))) / length, 1, zeros,
                          [&](loop::Value run, std::span<const loop::Value> sums) {
                            const loop::Value start = run * length;
                            const loop::Value low = builder.binary(loop::Code::kMax, first - start, zero);
                            const loop::Value high = builder.binary(loop::Code::kMin, last - start, length);
                            return accumulate(builder, tile, operands(run), low, high, {sums.begin(), sums.end()});
                          });
}

}  // namespace lucid::convolution
