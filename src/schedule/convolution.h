#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/convolution_rules.h"
#include "schedule/contraction.h"
#include "schedule/schedule.h"

/// Convolutions as kernels. The orders of accumulation stand in docs/decisions/0006-convolution.md; layouts, tiles and
/// the split into items decide only how fast a convolution is.
namespace lucid::convolution {

/// Three spatial dimensions; a convolution that has fewer has leading ones of size 1.
inline constexpr size_t kAxes = 3;

/// A tensor [batch, channels, ...] in memory, by its strides in elements.
struct Images {
  BufferUse use;
  Dtype dtype = Dtype::kF32;
  int64_t batch = 0;
  int64_t channel = 0;
  std::array<int64_t, kAxes> axes = {};
};

/// The same use with what an image of the batch takes of the buffer, in elements of `dtype`.
inline BufferUse by_image(BufferUse use, int64_t stride, int64_t elements, Dtype dtype) {
  const auto bytes = static_cast<int64_t>(size_of(dtype));
  use.unit = {stride * bytes, elements * bytes};
  return use;
}

/// A convolution or its gradient by the weight: what is read and what is written, `result` being one of the three.
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
  /// Multiplications in all.
  int64_t work() const;
  /// The contiguous result, by images.
  BufferUse y_by_image() const {
    const int64_t elements = shape.groups * shape.out_channels * shape.outputs();
    return by_image(y.use, elements, elements, dtype);
  }
  /// Products that make one element of the result of a convolution.
  int64_t terms() const { return shape.taps() * shape.in_channels; }
};

/// A copy with channels innermost, [batch, group, ..., channels], zeros where the convolution reads zeros.
struct ChannelsLast {
  BufferUse use;
  int64_t groups = 1;
  /// Elements from one pixel to the next, of which the first are its channels.
  int64_t channels = 1;
  std::array<int64_t, kAxes> sizes = {1, 1, 1};

  int64_t row() const { return sizes[2] * channels; }
  int64_t plane() const { return sizes[1] * row(); }
  int64_t group() const { return sizes[0] * plane(); }
  int64_t image() const { return groups * group(); }
};

/// What channels_last_step copies along one axis: `input` elements, `low` places after the first one, `step` apart.
struct CopiedAxis {
  int64_t input = 1;
  int64_t low = 0;
  int64_t step = 1;
};

/// Copies images into `target`, in the compute dtype.
KernelStep channels_last_step(const Problem& problem, const Images& images, int64_t channels,
                              const std::array<CopiedAxis, kAxes>& axes, const ChannelsLast& target);

/// A weight as panels of output channels: for each group and panel, terms() rows of tile columns, in the compute dtype.
KernelStep pack_weight_step(const Problem& problem, int64_t columns, const BufferUse& packed);

/// The convolution by tiles of neighbouring pixels of a row by vectors of output channels.
KernelStep tile_step(const Problem& problem, const contraction::Tile& tile, const ChannelsLast& x,
                     const BufferUse& packed);

/// Few output channels: vectors of neighbouring pixels of a few rows for a few channels at once.
struct DirectBlocking {
  int outs = 1;
  int rows = 1;
  int vectors = 1;
};

/// How to compute so, if that is better than tiles.
std::optional<DirectBlocking> choose_direct_blocking(const Problem& problem, const Registers& registers);
/// The convolution from images that have the zeros that it reads. `may_overrun`: a vector more than their elements may
/// be read.
KernelStep direct_step(const Problem& problem, const DirectBlocking& blocking, const Images& x, bool may_overrun);

/// How the gradient by the weight is cut. Rows of a segment are (tap along the last axis, input channel), neighbours in
/// memory, or only input channels when the taps are apart; segments are the other taps. Of convolutions with one
/// channel in a group all groups are done together, as lanes: rows are the taps along the last axis.
struct WeightBlocking {
  contraction::Tile tile;
  int64_t segments = 1;
  int64_t rows = 1;
  bool by_lane = false;
  /// The taps of all segments are in one tile.
  bool whole = false;
  /// Parts of the sum that items compute separately.
  int64_t chunks = 1;

  /// Columns of the sums: output channels, filled up to vectors.
  int64_t columns = 0;

  /// Segments that are items; within one, its tiles are computed one after another.
  int64_t item_segments() const { return whole ? 1 : segments; }
};

WeightBlocking choose_weight_blocking(const Problem& problem, bool by_lane, const Registers& registers);
/// Sums for each chunk, group, segment, row and column.
KernelStep weight_tile_step(const Problem& problem, const WeightBlocking& blocking, const ChannelsLast& x,
                            const ChannelsLast& y, const BufferUse& sums);
/// Adds the chunks' sums in order and puts them where the weight has them.
KernelStep weight_result_step(const Problem& problem, const WeightBlocking& blocking, const BufferUse& sums);

/// Has each group one input channel and one output channel?
inline bool is_depthwise(const Problem& problem) {
  return problem.shape.groups > 1 && problem.shape.in_channels == 1 && problem.shape.out_channels == 1;
}

/// Do the taps along the last axis lie side by side, so that taps and channels are one run of memory?
inline bool has_merged_taps(const Problem& problem) {
  return problem.axis(2).dilation == 1 || problem.axis(2).kernel == 1;
}

/// a * b + c: fused for floats; integers wrap.
loop::Value multiply_add(loop::Builder& builder, loop::Value a, loop::Value b, loop::Value c);

/// One chain for each element of a tile over terms [first, last): the rows' elements lie at a + row_offsets[i] + k *
/// a_step, the columns at b + k * b_step. `sums` are the chains so far.
struct TileOperands {
  loop::BufferRef a_buffer;
  loop::BufferRef b_buffer;
  loop::Value a;
  loop::Value b;
  loop::Value a_step;
  loop::Value b_step;
  std::vector<loop::Value> row_offsets;
  /// Rows have an element for each column instead of one for all.
  bool by_lane = false;
  /// Fetch b this many terms ahead; 0 for not at all.
  int64_t ahead = 0;
  /// Fetch the rows too, which are neighbours.
  bool fetches_rows = false;
};
std::vector<loop::Value> accumulate(loop::Builder& builder, const contraction::Tile& tile, const TileOperands& operands,
                                    loop::Value first, loop::Value last, const std::vector<loop::Value>& sums);

/// The chains of terms [first, last) of a sum whose terms come in runs of `length`; `operands` tells where run r lies.
template <typename OperandsOf>
std::vector<loop::Value> accumulate_runs(loop::Builder& builder, const contraction::Tile& tile, loop::Value length,
                                         loop::Value first, loop::Value last, const OperandsOf& operands) {
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
