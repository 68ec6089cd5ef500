#include <algorithm>
#include <string>

#include "schedule/convolution.h"
#include "schedule/kernel_writer.h"

// The gradient with respect to the weight: for each tap and input channel, a row of sums over all pixels, one for each
// output channel.
namespace lucid::convolution {
namespace {

using contraction::kChain;
using contraction::RegisterTile;
using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

constexpr double kWeightProductsPerNanosecond = 60;
/// With fewer items than this, each chain of the sum becomes a separate item, if all their sums fit into
/// kMaxChainBytes.
constexpr int64_t kMinItems = 16;
constexpr int64_t kMaxChainBytes = 32 << 20;
/// Prefetch distance in pixels.
constexpr int64_t kPrefetchPixels = 8;
/// Number of accumulators of a tile whose rows are vectors.
constexpr int64_t kLaneAccumulators = 20;

int64_t pixels_of(const Problem& problem) { return problem.shape.batch * problem.shape.outputs(); }

/// Writes the kernel whose items are tiles of rows and output channels, or parts of their sums.
class WeightTileWriter {
 public:
  WeightTileWriter(const Problem& problem, const WeightBlocking& blocking, const ChannelsLast& x, const ChannelsLast& y,
                   const BufferUse& sums)
      : problem_(problem),
        blocking_(blocking),
        tile_(blocking.tile),
        images_(x),
        gradients_(y),
        dtype_(compute_dtype(problem.dtype)),
        panel_count_(ceil_div(blocking.columns, tile_.columns())),
        writer_("convolution_weight_" + std::string(name_of(problem.dtype)) + "_" + std::to_string(tile_.rows) + "x" +
                std::to_string(tile_.columns())),
        builder_(writer_.builder()),
        x_(writer_.buffer(x.use, dtype_)),
        y_(writer_.buffer(y.use, dtype_)),
        sums_(writer_.buffer(sums, dtype_)) {
    pixels_ = writer_.param(pixels_of(problem));
    width_ = writer_.param(problem.axis(2).output);
    heights_ = writer_.param(problem.axis(1).output);
    depths_ = writer_.param(problem.axis(0).output);
    x_image_ = writer_.param(x.image());
    x_group_ = writer_.param(x.group());
    plane_step_ = writer_.param(x.plane() * problem.axis(0).stride);
    row_step_ = writer_.param(x.row() * problem.axis(1).stride);
    plane_tap_ = writer_.param(x.plane() * problem.axis(0).dilation);
    row_tap_ = writer_.param(x.row() * problem.axis(1).dilation);
    pixel_tap_ = writer_.param(x.channels * problem.axis(2).dilation);
    y_image_ = writer_.param(y.image());
    y_group_ = writer_.param(y.group());
    y_row_ = writer_.param(y.row());
    columns_ = writer_.param(blocking.columns);
    kernel_rows_ = writer_.param(problem.axis(1).kernel);
    kernel_columns_ = writer_.param(problem.axis(2).kernel);
    rows_ = writer_.param(blocking.rows);
    segments_ = writer_.param(blocking.item_segments());
    panels_ = writer_.param(panel_count_);
    groups_ = writer_.param(problem.shape.groups);
    group_rows_ = writer_.param(blocking.segments * blocking.rows);
  }

  KernelStep write() {
    builder_.for_loop(builder_.begin(), builder_.end(), 1, [&](Value item) {
      const Value segment = builder_.binary(Code::kRem, item, segments_);
      const Value rest = item / segments_;
      const Value panel = builder_.binary(Code::kRem, rest, panels_);
      const Value above = rest / panels_;
      const Value group = builder_.binary(Code::kRem, above, groups_);
      const Value chunk = above / groups_;
      write_item(chunk, group, panel, segment);
    });
    const int64_t items = blocking_.chunks * problem_.shape.groups * panel_count_ * blocking_.item_segments();
    const auto work =
        static_cast<double>(pixels_of(problem_) * problem_.shape.groups * blocking_.segments * blocking_.rows) *
        static_cast<double>(blocking_.columns);
    return writer_.finish(items, work / (kWeightProductsPerNanosecond * static_cast<double>(items)));
  }

 private:
  /// Computes all tiles of a segment, chain by chain, so that the data of a chain stays in the caches.
  void write_item(Value chunk, Value group, Value panel, Value segment) {
    const Value zero = builder_.index(0);
    const Value column = panel * builder_.index(tile_.columns());
    const Value base = tap_offset(segment) + (blocking_.by_lane ? column : group * x_group_);
    const Value columns = group * y_group_ + column;
    const Value target = ((chunk * groups_ + group) * group_rows_ + segment * rows_) * columns_ + column;
    auto write_chain = [&](Value first) {
      const Value last = builder_.binary(Code::kMin, first + builder_.index(kChain), pixels_);
      auto write_tile = [&](Value row, Value first_row) {
        const std::vector<Value> sums = accumulate_pixels(base + row, columns, first, last);
        const Value at = target + row * columns_;
        // An item with a single chain has no earlier sums to add to.
        if (blocking_.chunks > 1 || pixels_of(problem_) <= kChain) {
          store(sums, at, first_row, false);
        } else {
          builder_.if_then(
              first == zero, [&] { store(sums, at, first_row, false); }, [&] { store(sums, at, first_row, true); });
        }
      };
      if (blocking_.whole || blocking_.rows == tile_.rows) {
        write_tile(zero, zero);
      } else {
        builder_.for_loop(zero, rows_, tile_.rows, [&](Value start) {
          // The last tile starts early enough to be full; rows before `start` belong to the tile above.
          const Value row = builder_.binary(Code::kMin, start, rows_ - builder_.index(tile_.rows));
          write_tile(row, start - row);
        });
      }
    };
    if (blocking_.chunks > 1) {
      write_chain(chunk * builder_.index(kChain));
    } else {
      builder_.for_loop(zero, pixels_, kChain, write_chain);
    }
  }

  Value tap_offset(Value segment) {
    if (blocking_.whole) return builder_.index(0);
    Value tap = segment;
    Value offset = builder_.index(0);
    if (!blocking_.by_lane && !has_merged_taps(problem_)) {
      offset = builder_.binary(Code::kRem, tap, kernel_columns_) * pixel_tap_;
      tap = tap / kernel_columns_;
    }
    if (problem_.axis(0).kernel > 1) {
      offset = offset + tap / kernel_rows_ * plane_tap_;
      tap = builder_.binary(Code::kRem, tap, kernel_rows_);
    }
    return offset + tap * row_tap_;
  }

  /// The sums over pixels [first, last). A run is a row of the result.
  std::vector<Value> accumulate_pixels(Value base, Value columns, Value first, Value last) {
    return accumulate_runs(builder_, tile_, width_, first, last, [&](Value run) {
      const Value y = builder_.binary(Code::kRem, run, heights_);
      Value image = run / heights_;
      Value offset = y * row_step_;
      Value gradient = y;
      if (problem_.axis(0).output > 1) {
        const Value z = builder_.binary(Code::kRem, image, depths_);
        image = image / depths_;
        offset = offset + z * plane_step_;
        gradient = z * heights_ + y;
      }
      TileOperands operands{.a_buffer = x_,
                            .b_buffer = y_,
                            .a = base + image * x_image_ + offset,
                            .b = columns + image * y_image_ + gradient * y_row_,
                            .a_step = builder_.index(images_.channels * problem_.axis(2).stride),
                            .b_step = builder_.index(gradients_.channels),
                            .row_offsets = {},
                            .by_lane = blocking_.by_lane,
                            .prefetch_terms = kPrefetchPixels,
                            .prefetches_rows = !blocking_.by_lane && !blocking_.whole};
      for (int i = 0; i < tile_.rows; ++i) {
        if (blocking_.by_lane) {
          operands.row_offsets.push_back(builder_.index(i * images_.channels * problem_.axis(2).dilation));
          continue;
        }
        operands.row_offsets.push_back(blocking_.whole ? row_tap_ * builder_.index(i / blocking_.rows) +
                                                             builder_.index(i % blocking_.rows)
                                                       : builder_.index(i));
      }
      return operands;
    });
  }

  void store(const std::vector<Value>& sums, Value target, Value first_row, bool add) {
    const bool shared = !blocking_.whole && blocking_.rows % tile_.rows != 0;
    for (int i = 0; i < tile_.rows; ++i) {
      auto store_row = [&] {
        for (int j = 0; j < tile_.vectors; ++j) {
          const Value at = target + columns_ * builder_.index(i) + builder_.index(j * kLanes);
          const int vector = i * tile_.vectors + j;
          const Value sum = sums[static_cast<size_t>(vector)];
          builder_.store(sums_, at, add ? builder_.load_vector(sums_, at) + sum : sum);
        }
      };
      // Every tile stores its last row.
      if (shared && i + 1 < tile_.rows) {
        builder_.if_then(builder_.index(i) >= first_row, store_row);
      } else {
        store_row();
      }
    }
  }

  const Problem& problem_;
  const WeightBlocking& blocking_;
  RegisterTile tile_;
  const ChannelsLast& images_;
  const ChannelsLast& gradients_;
  Dtype dtype_;
  int64_t panel_count_;
  KernelWriter writer_;
  Builder& builder_;
  BufferRef x_;
  BufferRef y_;
  BufferRef sums_;
  Value pixels_;
  Value width_;
  Value heights_;
  Value depths_;
  Value x_image_;
  Value x_group_;
  Value plane_step_;
  Value row_step_;
  Value plane_tap_;
  Value row_tap_;
  Value pixel_tap_;
  Value y_image_;
  Value y_group_;
  Value y_row_;
  Value columns_;
  Value kernel_rows_;
  Value kernel_columns_;
  Value rows_;
  Value segments_;
  Value panels_;
  Value groups_;
  Value group_rows_;
};

/// The number of parts of the sum that are separate items: one, or the number of chains.
int64_t choose_chunks(const Problem& problem, const WeightBlocking& blocking) {
  const int64_t panels = blocking.columns / blocking.tile.columns();
  const int64_t items = problem.shape.groups * panels * blocking.item_segments();
  const int64_t chains = ceil_div(pixels_of(problem), kChain);
  const int64_t bytes = problem.shape.groups * problem.terms() * blocking.columns *
                        static_cast<int64_t>(size_of(compute_dtype(problem.dtype)));
  return items < kMinItems && bytes * chains <= kMaxChainBytes ? chains : 1;
}

/// All groups are lanes: a tile is the taps along the last axis by a few vectors.
WeightBlocking choose_lane_blocking(const Problem& problem) {
  WeightBlocking blocking;
  const ConvolutionShape& shape = problem.shape;
  blocking.by_lane = true;
  blocking.rows = problem.axis(2).kernel;
  blocking.segments = shape.taps() / blocking.rows;
  const int64_t vectors = ceil_div(shape.out_channels, kLanes);
  blocking.columns = vectors * kLanes;
  blocking.tile.rows = static_cast<int>(blocking.rows);
  blocking.tile.vectors =
      static_cast<int>(std::clamp<int64_t>(kLaneAccumulators / blocking.rows, 1, std::min<int64_t>(vectors, 4)));
  while (vectors % blocking.tile.vectors != 0) --blocking.tile.vectors;
  blocking.chunks = choose_chunks(problem, blocking);
  return blocking;
}

}  // namespace

WeightBlocking choose_weight_blocking(const Problem& problem, bool by_lane, const Registers& registers) {
  if (by_lane) return choose_lane_blocking(problem);
  WeightBlocking blocking;
  const ConvolutionShape& shape = problem.shape;
  const bool merged = has_merged_taps(problem);
  blocking.rows = merged ? shape.in_channels * problem.axis(2).kernel : shape.in_channels;
  blocking.segments = shape.taps() / (merged ? problem.axis(2).kernel : SymInt(1));
  const int64_t all_rows = blocking.rows * blocking.segments;
  const RegisterTile all = contraction::choose_tile(all_rows, shape.out_channels, problem.dtype, registers);
  if (merged && blocking.segments > 1 && problem.axis(0).kernel == 1 && all.rows == all_rows) {
    blocking.whole = true;
    blocking.tile = all;
  } else {
    blocking.tile = contraction::choose_tile(blocking.rows, shape.out_channels, problem.dtype, registers);
  }
  // Panels consist of whole tiles: the gradient's channels are only rounded up to vectors.
  const int64_t vectors = ceil_div(shape.out_channels, kLanes);
  blocking.columns = vectors * kLanes;
  while (vectors % blocking.tile.vectors != 0) --blocking.tile.vectors;
  blocking.chunks = choose_chunks(problem, blocking);
  return blocking;
}

KernelStep weight_tile_step(const Problem& problem, const WeightBlocking& blocking, const ChannelsLast& x,
                            const ChannelsLast& y, const BufferUse& sums) {
  return WeightTileWriter(problem, blocking, x, y, sums).write();
}

}  // namespace lucid::convolution
