#include <algorithm>
#include <string>

#include "schedule/convolution.h"
#include "schedule/kernel_writer.h"
#include "schedule/transpose.h"

// Copies weights between the tensor layout and rows of output channels, one for each tap and input channel.
namespace lucid::convolution {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

constexpr double kNanosecondsPerElement = 0.3;
/// Number of input channels per item.
constexpr int64_t kChannels = 16;
/// Number of output channels per item of the result, so that an item reads more than a cache line of each row.
constexpr int64_t kOuts = 64;

/// The distance between consecutive taps if it is the same for all, else 0.
int64_t tap_step(const Problem& problem) {
  const Dims& strides = problem.weight_strides.taps;
  int64_t step = 0;
  int64_t expected = 0;
  for (size_t d = kAxes; d-- > 0;) {
    const int64_t size = problem.axis(d).kernel;
    if (size == 1) continue;
    if (step == 0) step = expected = strides[d];
    if (strides[d] != expected) return 0;
    expected *= size;
  }
  return step == 0 ? 1 : step;
}

/// Whether the input channels and taps of an output channel are contiguous, in this order.
bool is_plain(const Problem& problem) {
  const int64_t taps = problem.shape.taps();
  return tap_step(problem) == 1 && (problem.weight_strides.in == taps || problem.shape.in_channels == 1) &&
         problem.terms() >= kLanes;
}

/// The strides and sizes of a weight that both directions use.
class WeightLayout {
 public:
  WeightLayout(const Problem& problem, KernelWriter& writer) : problem_(problem), builder_(writer.builder()) {
    const auto& strides = problem.weight_strides;
    start_ = writer.param(strides.start);
    group_ = writer.param(strides.group);
    out_ = writer.param(strides.out);
    in_ = writer.param(strides.in);
    outs = writer.param(problem.shape.out_channels);
    ins = writer.param(problem.shape.in_channels);
    terms = writer.param(problem.terms());
    step_ = tap_step(problem);
    for (size_t d = 0; d < kAxes; ++d) {
      sizes_[d] = writer.param(problem.axis(d).kernel);
      tap_strides_[d] = writer.param(strides.taps[d]);
    }
  }

  Value group(Value group) { return start_ + group * group_; }
  Value out(Value out) { return out * out_; }
  Value in(Value in) { return in * in_; }
  Value tap(Value tap) {
    if (step_ != 0) return tap * builder_.index(step_);
    const Value rest = tap / sizes_[2];
    return rest / sizes_[1] * tap_strides_[0] + builder_.binary(Code::kRem, rest, sizes_[1]) * tap_strides_[1] +
           builder_.binary(Code::kRem, tap, sizes_[2]) * tap_strides_[2];
  }
  /// The row of element `position`, a channel and tap, of an output channel of a plain weight.
  Value row(Value position) {
    const Value taps = builder_.index(problem_.shape.taps());
    const Value channel = position / taps;
    return (position - channel * taps) * ins + channel;
  }

  Value outs;
  Value ins;
  Value terms;

 private:
  const Problem& problem_;
  Builder& builder_;
  Value start_;
  Value group_;
  Value out_;
  Value in_;
  int64_t step_ = 0;
  Value sizes_[kAxes];
  Value tap_strides_[kAxes];
};

std::string name_for(const char* what, const Problem& problem) {
  return what + std::string(name_of(problem.dtype)) + (is_plain(problem) ? "" : "_strided");
}

}  // namespace

KernelStep pack_weight_step(const Problem& problem, int64_t columns, const BufferUse& packed) {
  const ConvolutionShape& shape = problem.shape;
  const Dtype dtype = compute_dtype(problem.dtype);
  const int64_t panel_count = ceil_div(shape.out_channels, columns);
  const int64_t block_count = ceil_div(shape.in_channels, kChannels);
  KernelWriter writer(name_for("pack_convolution_", problem) + "_" + std::to_string(columns));
  Builder& builder = writer.builder();
  const BufferRef from = writer.buffer(problem.weight, problem.dtype);
  const BufferRef to = writer.buffer(packed, dtype);
  WeightLayout layout(problem, writer);
  const Value panels = writer.param(panel_count);
  const Value blocks = writer.param(block_count);
  const Value panel_elements = writer.param(problem.terms() * columns);
  const bool even = problem.terms() % kLanes == 0;

  // Loads vectors of kLanes output channels and transposes them.
  auto pack_plain = [&](Value source, Value target, Value column, Value first, Value last) {
    const Value end = layout.outs - builder.index(1);
    builder.for_loop(first, last, kLanes, [&](Value position) {
      const Value mask = even ? Value() : builder.lanes_below(layout.terms - position);
      std::vector<Value> rows;
      for (int i = 0; i < kLanes; ++i)
        rows.push_back(target + layout.row(position + builder.index(i)) * builder.index(columns));
      builder.for_loop(builder.index(0), builder.index(columns), kLanes, [&](Value j) {
        std::vector<Value> square;
        for (int i = 0; i < kLanes; ++i) {
          const Value out = builder.binary(Code::kMin, column + j + builder.index(i), end);
          square.push_back(
              builder.convert(builder.load_vector(from, source + layout.out(out) + position, mask), dtype));
        }
        transpose(builder, square);
        for (int i = 0; i < kLanes; ++i) {
          auto store = [&] { builder.store(to, rows[static_cast<size_t>(i)] + j, square[static_cast<size_t>(i)]); };
          if (even) {
            store();
          } else {
            builder.if_then(position + builder.index(i) < layout.terms, store);
          }
        }
      });
    });
  };
  auto pack_strided = [&](Value source, Value target, Value column, Value first, Value last) {
    std::vector<Value> masks, lanes;
    for (int64_t j = 0; j < columns; j += kLanes) {
      const Value out = column + builder.index(j);
      masks.push_back(builder.lanes_below(layout.outs - out));
      lanes.push_back(source + layout.out(out + builder.iota()));
    }
    builder.for_loop(first, last, 1, [&](Value in) {
      builder.for_loop(builder.index(0), builder.index(shape.taps()), 1, [&](Value tap) {
        const Value offset = layout.in(in) + layout.tap(tap);
        const Value row = target + (tap * layout.ins + in) * builder.index(columns);
        for (size_t j = 0; j < lanes.size(); ++j) {
          const Value elements = builder.gather(from, lanes[j] + offset, masks[j]);
          builder.store(to, row + builder.index(static_cast<int64_t>(j) * kLanes), builder.convert(elements, dtype));
        }
      });
    });
  };
  builder.for_loop(builder.begin(), builder.end(), 1, [&](Value item) {
    const Value block = builder.binary(Code::kRem, item, blocks);
    const Value rest = item / blocks;
    const Value panel = builder.binary(Code::kRem, rest, panels);
    const Value source = layout.group(rest / panels);
    const Value target = rest * panel_elements;
    const Value column = panel * builder.index(columns);
    const Value first = block * builder.index(kChannels);
    const Value last = builder.binary(Code::kMin, first + builder.index(kChannels), layout.ins);
    if (is_plain(problem)) {
      const Value taps = builder.index(shape.taps());
      pack_plain(source, target, column, first * taps, last * taps);
    } else {
      pack_strided(source, target, column, first, last);
    }
  });
  const int64_t items = shape.groups * panel_count * block_count;
  KernelStep step = writer.finish(
      items, static_cast<double>(std::min<int64_t>(kChannels, shape.in_channels) * shape.taps() * columns) *
                 kNanosecondsPerElement);
  step.packs = problem.weight.index;
  return step;
}

KernelStep weight_result_step(const Problem& problem, const WeightBlocking& blocking, const BufferUse& sums) {
  const ConvolutionShape& shape = problem.shape;
  const Dtype dtype = compute_dtype(problem.dtype);
  const int64_t block_count = ceil_div(shape.in_channels, kChannels);
  const int64_t panel_count = ceil_div(shape.out_channels, kOuts);
  KernelWriter writer(name_for("convolution_weight_result_", problem));
  Builder& builder = writer.builder();
  const BufferRef from = writer.buffer(sums, dtype);
  const BufferRef to = writer.buffer(problem.weight, problem.dtype);
  WeightLayout layout(problem, writer);
  const Value channels = writer.param(blocking.columns);
  const Value chunks = writer.param(blocking.chunks);
  const Value chunk_elements = writer.param(shape.groups * problem.terms() * blocking.columns);
  const Value blocks = writer.param(block_count);
  const Value panels = writer.param(panel_count);

  auto total = [&](Value at) {
    const std::vector<Value> first{builder.load_vector(from, at)};
    if (blocking.chunks == 1) return first[0];
    return builder.for_loop(builder.index(1), chunks, 1, first,
                            [&](Value chunk, std::span<const Value> sum) -> std::vector<Value> {
                              return {sum[0] + builder.load_vector(from, chunk * chunk_elements + at)};
                            })[0];
  };
  auto put_plain = [&](Value source, Value target, Value out, Value out_end, Value first, Value last) {
    builder.for_loop(first, last, kLanes, [&](Value position) {
      const Value end = layout.terms - builder.index(1);
      std::vector<Value> rows;
      for (int i = 0; i < kLanes; ++i)
        rows.push_back(source + layout.row(builder.binary(Code::kMin, position + builder.index(i), end)) * channels);
      const Value count = last - position;
      builder.for_loop(out, out_end, kLanes, [&](Value o) {
        std::vector<Value> square;
        for (const Value& row : rows) square.push_back(total(row + o));
        transpose(builder, square);
        for (int i = 0; i < kLanes; ++i) {
          const Value some = builder.select(o + builder.index(i) < layout.outs, count, builder.index(0));
          builder.store(to, target + layout.out(o + builder.index(i)) + position,
                        builder.convert(square[static_cast<size_t>(i)], problem.dtype), builder.lanes_below(some));
        }
      });
    });
  };
  auto put_strided = [&](Value source, Value target, Value out, Value out_end, Value first, Value last) {
    builder.for_loop(first, last, 1, [&](Value in) {
      builder.for_loop(builder.index(0), builder.index(shape.taps()), 1, [&](Value tap) {
        const Value row = source + (tap * layout.ins + in) * channels;
        const Value position = target + layout.in(in) + layout.tap(tap);
        builder.for_loop(out, out_end, kLanes, [&](Value o) {
          builder.scatter(to, position + layout.out(o + builder.iota()), builder.convert(total(row + o), problem.dtype),
                          builder.lanes_below(layout.outs - o));
        });
      });
    });
  };
  builder.for_loop(builder.begin(), builder.end(), 1, [&](Value item) {
    const Value block = builder.binary(Code::kRem, item, blocks);
    const Value rest = item / blocks;
    const Value out = builder.binary(Code::kRem, rest, panels) * builder.index(kOuts);
    const Value out_end = builder.binary(Code::kMin, out + builder.index(kOuts), layout.outs);
    const Value group = rest / panels;
    const Value source = group * layout.terms * channels;
    const Value first = block * builder.index(kChannels);
    const Value last = builder.binary(Code::kMin, first + builder.index(kChannels), layout.ins);
    if (is_plain(problem)) {
      const Value taps = builder.index(shape.taps());
      put_plain(source, layout.group(group), out, out_end, first * taps, last * taps);
    } else {
      put_strided(source, layout.group(group), out, out_end, first, last);
    }
  });
  const int64_t items = shape.groups * panel_count * block_count;
  return writer.finish(items, static_cast<double>(std::min<int64_t>(kChannels, shape.in_channels) * shape.taps()) *
                                  static_cast<double>(std::min<int64_t>(kOuts, shape.out_channels) * blocking.chunks) *
                                  kNanosecondsPerElement);
}

}  // namespace lucid::convolution
