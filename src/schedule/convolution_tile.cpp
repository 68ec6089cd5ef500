#include <algorithm>
#include <string>

#include "schedule/convolution.h"
#include "schedule/kernel_writer.h"
#include "schedule/transpose.h"

namespace lucid::convolution {
namespace {

using contraction::kChain;
using contraction::RegisterTile;
using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

constexpr double kConvolutionProductsPerNanosecond = 60;
/// Prefetch distance in terms of a packed panel.
constexpr int64_t kPrefetchTerms = 8;
/// A panel up to this size stays in the first-level cache.
constexpr int64_t kL1PanelBytes = 24 << 10;

/// Writes the kernel whose items are rows of pixels of one panel of output channels.
class TileWriter {
 public:
  TileWriter(const Problem& problem, const RegisterTile& tile, const ChannelsLast& x, const BufferUse& packed)
      : problem_(problem),
        shape_(problem.shape),
        tile_(tile),
        images_(x),
        dtype_(compute_dtype(problem.dtype)),
        panel_count_((shape_.out_channels + tile.columns() - 1) / tile.columns()),
        writer_(name()),
        builder_(writer_.builder()),
        x_(writer_.buffer(by_image(x.use, x.image(), x.image(), dtype_), dtype_)),
        weight_(writer_.buffer(packed, dtype_)),
        out_(writer_.buffer(problem.y_by_image(), problem.dtype)) {
    if (problem.has_bias) bias_ = writer_.buffer(problem.bias, problem.dtype);
    if (problem.terms() > kChain) totals_ = builder_.scratch(dtype_, tile.rows * tile.columns());
    panels_ = writer_.param(panel_count_);
    groups_ = writer_.param(shape_.groups);
    rows_ = writer_.param(problem.axis(1).output);
    planes_ = writer_.param(problem.axis(0).output);
    width_ = writer_.param(problem.axis(2).output);
    outs_ = writer_.param(shape_.out_channels);
    outputs_ = writer_.param(shape_.outputs());
    terms_ = writer_.param(problem.terms());
    panel_elements_ = writer_.param(problem.terms() * tile.columns());
    group_ = writer_.param(x.group());
    plane_step_ = writer_.param(x.plane() * problem.axis(0).stride);
    row_step_ = writer_.param(x.row() * problem.axis(1).stride);
    run_ = writer_.param(has_merged_taps(problem) ? shape_.in_channels * problem.axis(2).kernel : shape_.in_channels);
    plane_tap_ = writer_.param(x.plane() * problem.axis(0).dilation);
    row_tap_ = writer_.param(x.row() * problem.axis(1).dilation);
    pixel_tap_ = writer_.param(x.channels * problem.axis(2).dilation);
    kernel_rows_ = writer_.param(problem.axis(1).kernel);
    kernel_columns_ = writer_.param(problem.axis(2).kernel);
    bias_stride_ = writer_.param(problem.bias_stride);
    tile_width_ = writer_.param(tile.rows);
  }

  KernelStep write() {
    const Value items_in_plane = rows_;
    builder_.for_loop(builder_.begin(), builder_.end(), 1, [&](Value item) {
      const Value row = builder_.binary(Code::kRem, item, items_in_plane);
      const Value above = item / items_in_plane;
      const Value plane = builder_.binary(Code::kRem, above, planes_);
      const Value rest = above / planes_;
      const Value panel = builder_.binary(Code::kRem, rest, panels_);
      const Value block = rest / panels_;  // index of the image and group
      const Value group = builder_.binary(Code::kRem, block, groups_);
      write_item(block, group, panel, plane, row);
    });
    const int64_t items =
        shape_.batch * shape_.groups * panel_count_ * problem_.axis(0).output * problem_.axis(1).output;
    return writer_.finish(
        items, static_cast<double>(problem_.work()) / (kConvolutionProductsPerNanosecond * static_cast<double>(items)),
        items / shape_.batch);
  }

 private:
  std::string name() const {
    return "convolution_" + std::string(name_of(problem_.dtype)) + "_" + std::to_string(tile_.rows) + "x" +
           std::to_string(tile_.columns());
  }

  void write_item(Value block, Value group, Value panel, Value plane, Value row) {
    const Value x_row = block * group_ + plane * plane_step_ + row * row_step_;
    const Value weights = (group * panels_ + panel) * panel_elements_;
    const Value channel = panel * builder_.index(tile_.columns());
    const Value out_row = (block * outs_ + channel) * outputs_ + (plane * rows_ + row) * width_;
    const std::vector<Value> biases = load_bias(group * outs_ + channel, outs_ - channel);
    const Value last = width_ - builder_.index(tile_.rows);
    // The last tile starts early enough to be full.
    builder_.for_loop(builder_.index(0), width_, tile_.rows, [&](Value start) {
      const Value pixel = builder_.binary(Code::kMin, start, last);
      const Value base = x_row + pixel * builder_.index(pixel_step());
      store_tile(write_tile(base, weights), biases, out_row + pixel, outs_ - channel);
    });
  }

  int64_t panel_bytes() const { return problem_.terms() * tile_.columns() * static_cast<int64_t>(size_of(dtype_)); }

  int64_t pixel_step() const { return images_.channels * problem_.axis(2).stride; }

  std::vector<Value> load_bias(Value first, Value count) {
    std::vector<Value> biases;
    if (!problem_.has_bias) return biases;
    for (int j = 0; j < tile_.vectors; ++j) {
      const Value mask = builder_.lanes_below(count - builder_.index(j * kLanes));
      const Value at = (first + builder_.index(j * kLanes) + builder_.iota()) * bias_stride_;
      biases.push_back(builder_.convert(builder_.gather(bias_, at, mask), dtype_));
    }
    return biases;
  }

  /// The operands of run `run` of the terms: a kernel row, or a single tap.
  TileOperands operands(Value base, Value weights, Value run) {
    Value tap = run;
    Value offset = builder_.index(0);
    if (!has_merged_taps(problem_)) {
      offset = builder_.binary(Code::kRem, tap, kernel_columns_) * pixel_tap_;
      tap = tap / kernel_columns_;
    }
    if (problem_.axis(0).kernel > 1) {
      offset = offset + tap / kernel_rows_ * plane_tap_;
      tap = builder_.binary(Code::kRem, tap, kernel_rows_);
    }
    TileOperands result{.a_buffer = x_,
                        .b_buffer = weight_,
                        .a = base + offset + tap * row_tap_,
                        .b = weights + run * run_ * builder_.index(tile_.columns()),
                        .a_step = builder_.index(1),
                        .b_step = builder_.index(tile_.columns()),
                        .row_offsets = {},
                        .prefetch_terms = panel_bytes() > kL1PanelBytes ? kPrefetchTerms : 0};
    for (int i = 0; i < tile_.rows; ++i) result.row_offsets.push_back(builder_.index(i * pixel_step()));
    return result;
  }

  std::vector<Value> write_tile(Value base, Value weights) {
    const auto operands_of = [&](Value run) { return operands(base, weights, run); };
    if (problem_.terms() <= kChain) {
      return accumulate_runs(builder_, tile_, run_, builder_.index(0), terms_, operands_of);
    }
    const int count = tile_.rows * tile_.vectors;
    auto offset = [&](int i) { return builder_.index(i * kLanes); };
    builder_.for_loop(builder_.index(0), terms_, kChain, [&](Value chain) {
      const Value end = builder_.binary(Code::kMin, chain + builder_.index(kChain), terms_);
      const std::vector<Value> sums = accumulate_runs(builder_, tile_, run_, chain, end, operands_of);
      auto store = [&](bool add) {
        for (int i = 0; i < count; ++i) {
          const Value sum = sums[static_cast<size_t>(i)];
          builder_.store(totals_, offset(i), add ? builder_.load_vector(totals_, offset(i)) + sum : sum);
        }
      };
      builder_.if_then(chain == builder_.index(0), [&] { store(false); }, [&] { store(true); });
    });
    std::vector<Value> totals;
    for (int i = 0; i < count; ++i) totals.push_back(builder_.load_vector(totals_, offset(i)));
    return totals;
  }

  /// Transposes tiles of pixels by channels, since pixels are adjacent in the result.
  void store_tile(const std::vector<Value>& sums, const std::vector<Value>& biases, Value out, Value channels) {
    for (int j = 0; j < tile_.vectors; ++j) {
      for (int first = 0; first < tile_.rows; first += kLanes) {
        std::vector<Value> square;
        for (int i = first; i < first + kLanes; ++i) {
          if (i >= tile_.rows) {
            square.emplace_back();
            continue;
          }
          const int vector = i * tile_.vectors + j;
          Value sum = sums[static_cast<size_t>(vector)];
          if (!biases.empty()) sum = sum + biases[static_cast<size_t>(j)];
          square.push_back(sum);
        }
        transpose(builder_, square);
        const Value pixels = tile_width_ - builder_.index(first);
        const bool all_exist = shape_.out_channels % tile_.columns() == 0;
        const Value mask = all_exist ? builder_.lanes_below(pixels) : Value();
        for (int i = 0; i < kLanes; ++i) {
          const Value channel = builder_.index(j * kLanes + i);
          const Value some =
              all_exist ? mask : builder_.lanes_below(builder_.select(channel < channels, pixels, builder_.index(0)));
          const Value value = builder_.convert(square[static_cast<size_t>(i)], problem_.dtype);
          builder_.store(out_, out + channel * outputs_ + builder_.index(first), value, some);
        }
      }
    }
  }

  const Problem& problem_;
  const ConvolutionShape& shape_;
  RegisterTile tile_;
  const ChannelsLast& images_;
  Dtype dtype_;
  int64_t panel_count_;
  KernelWriter writer_;
  Builder& builder_;
  BufferRef x_;
  BufferRef weight_;
  BufferRef out_;
  BufferRef bias_;
  BufferRef totals_;
  Value panels_;
  Value groups_;
  Value rows_;
  Value planes_;
  Value width_;
  Value outs_;
  Value outputs_;
  Value terms_;
  Value panel_elements_;
  Value group_;
  Value plane_step_;
  Value row_step_;
  Value run_;
  Value plane_tap_;
  Value row_tap_;
  Value pixel_tap_;
  Value kernel_rows_;
  Value kernel_columns_;
  Value bias_stride_;
  Value tile_width_;
};

}  // namespace

Value multiply_add(Builder& builder, Value a, Value b, Value c) {
  return is_float(a.dtype()) ? builder.fma(a, b, c) : a * b + c;
}

std::vector<Value> accumulate(Builder& builder, const RegisterTile& tile, const TileOperands& operands, Value first,
                              Value last, const std::vector<Value>& sums) {
  return builder.for_loop(first, last, 1, sums, [&](Value k, std::span<const Value> current) {
    const Value b_index = operands.b + k * operands.b_step;
    std::vector<Value> columns;
    for (int j = 0; j < tile.vectors; ++j) {
      columns.push_back(builder.load_vector(operands.b_buffer, b_index + builder.index(j * kLanes)));
    }
    for (int j = 0; operands.prefetch_terms > 0 && j < tile.vectors; ++j) {
      builder.prefetch(operands.b_buffer,
                       b_index + operands.b_step * builder.index(operands.prefetch_terms) + builder.index(j * kLanes));
    }
    const Value a_index = operands.a + k * operands.a_step;
    if (operands.prefetches_rows) {
      builder.prefetch(operands.a_buffer, a_index + operands.a_step * builder.index(operands.prefetch_terms));
    }
    std::vector<Value> next;
    for (int i = 0; i < tile.rows; ++i) {
      const Value at = a_index + operands.row_offsets[static_cast<size_t>(i)];
      const Value shared = operands.by_lane ? Value() : builder.splat(builder.load(operands.a_buffer, at));
      for (int j = 0; j < tile.vectors; ++j) {
        const Value factor = shared ? shared : builder.load_vector(operands.a_buffer, at + builder.index(j * kLanes));
        next.push_back(multiply_add(builder, factor, columns[static_cast<size_t>(j)], current[next.size()]));
      }
    }
    return next;
  });
}

KernelStep tile_step(const Problem& problem, const RegisterTile& tile, const ChannelsLast& x, const BufferUse& packed) {
  return TileWriter(problem, tile, x, packed).write();
}

}  // namespace lucid::convolution
