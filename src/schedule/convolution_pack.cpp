#include <algorithm>
#include <string>

#include "schedule/convolution.h"
#include "schedule/kernel_writer.h"
#include "schedule/transpose.h"

// Weights between the layout that tensors have and rows of output channels, one for each tap and input channel.
namespace lucid::convolution {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

constexpr double kNanosecondsPerElement = 0.3;
/// Input channels that an item does.
constexpr int64_t kChannels = 16;
/// Output channels that an item of the result does, so that it reads more than a line of each row.
constexpr int64_t kOuts = 64;

int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// The distance from one tap to the next if it is the same for all of them, else 0.
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

/// Do the input channels and taps of an output channel lie side by side, in this order?
bool is_plain(const Problem& problem) {
  const int64_t taps = problem.shape.taps();
  return tap_step(problem) == 1 && (problem.weight_strides.in == taps || problem.shape.in_channels == 1) &&
         problem.terms() >= kLanes;
}

/// The numbers of a weight that both directions need.
class WeightPlaces {
 public:
  WeightPlaces(const Problem& problem, KernelWriter& writer) : problem_(problem), builder_(writer.builder()) {
    const auto& strides = problem.weight_strides;
    start_ = writer.number(strides.start);
    group_ = writer.number(strides.group);
    out_ = writer.number(strides.out);
    in_ = writer.number(strides.in);
    outs = writer.number(problem.shape.out_channels);
    ins = writer.number(problem.shape.in_channels);
    terms = writer.number(problem.terms());
    step_ = tap_step(problem);
    for (size_t d = 0; d < kAxes; ++d) {
      sizes_[d] = writer.number(problem.axis(d).kernel);
      tap_strides_[d] = writer.number(strides.taps[d]);
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
  /// The row of the channel and tap that are number `place` of an output channel of a plain weight.
  Value row(Value place) {
    const Value taps = builder_.index(problem_.shape.taps());
    const Value channel = place / taps;
    return (place - channel * taps) * ins + channel;
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
  WeightPlaces places(problem, writer);
  const Value panels = writer.number(panel_count);
  const Value blocks = writer.number(block_count);
  const Value panel_elements = writer.number(problem.terms() * columns);
  const bool even = problem.terms() % kLanes == 0;

  // Vectors of one output channel, kLanes channels at a time, turned around.
  auto pack_plain = [&](Value source, Value target, Value column, Value first, Value last) {
    const Value end = places.outs - builder.index(1);
    builder.for_loop(first, last, kLanes, [&](Value place) {
      const Value mask = even ? Value() : builder.lanes_below(places.terms - place);
      std::vector<Value> rows;
      for (int i = 0; i < kLanes; ++i)
        rows.push_back(target + places.row(place + builder.index(i)) * builder.index(columns));
      builder.for_loop(builder.index(0), builder.index(columns), kLanes, [&](Value j) {
        std::vector<Value> square;
        for (int i = 0; i < kLanes; ++i) {
          const Value out = builder.binary(Code::kMin, column + j + builder.index(i), end);
          square.push_back(builder.convert(builder.load_vector(from, source + places.out(out) + place, mask), dtype));
        }
        transpose(builder, square);
        for (int i = 0; i < kLanes; ++i) {
          auto store = [&] { builder.store(to, rows[static_cast<size_t>(i)] + j, square[static_cast<size_t>(i)]); };
          if (even) {
            store();
          } else {
            builder.if_then(place + builder.index(i) < places.terms, store);
          }
        }
      });
    });
  };
  auto pack_strided = [&](Value source, Value target, Value column, Value first, Value last) {
    std::vector<Value> masks, lanes;
    for (int64_t j = 0; j < columns; j += kLanes) {
      const Value out = column + builder.index(j);
      masks.push_back(builder.lanes_below(places.outs - out));
      lanes.push_back(source + places.out(out + builder.iota()));
    }
    builder.for_loop(first, last, 1, [&](Value in) {
      builder.for_loop(builder.index(0), builder.index(shape.taps()), 1, [&](Value tap) {
        const Value offset = places.in(in) + places.tap(tap);
        const Value row = target + (tap * places.ins + in) * builder.index(columns);
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
    const Value source = places.group(rest / panels);
    const Value target = rest * panel_elements;
    const Value column = panel * builder.index(columns);
    const Value first = block * builder.index(kChannels);
    const Value last = builder.binary(Code::kMin, first + builder.index(kChannels), places.ins);
    if (is_plain(problem)) {
      const Value taps = builder.index(shape.taps());
      pack_plain(source, target, column, first * taps, last * taps);
    } else {
      pack_strided(source, target, column, first, last);
    }
  });
  const int64_t items = shape.groups * panel_count * block_count;
  KernelStep step =
      writer.finish(items, static_cast<double>(std::min(kChannels, shape.in_channels) * shape.taps() * columns) *
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
  WeightPlaces places(problem, writer);
  const Value channels = writer.number(blocking.columns);
  const Value chunks = writer.number(blocking.chunks);
  const Value chunk_elements = writer.number(shape.groups * problem.terms() * blocking.columns);
  const Value blocks = writer.number(block_count);
  const Value panels = writer.number(panel_count);

  auto total = [&](Value at) {
    const std::vector<Value> first{builder.load_vector(from, at)};
    if (blocking.chunks == 1) return first[0];
    return builder.for_loop(builder.index(1), chunks, 1, first,
                            [&](Value chunk, std::span<const Value> sum) -> std::vector<Value> {
                              return {sum[0] + builder.load_vector(from, chunk * chunk_elements + at)};
                            })[0];
  };
  auto put_plain = [&](Value source, Value target, Value out, Value out_end, Value first, Value last) {
    builder.for_loop(first, last, kLanes, [&](Value place) {
      const Value end = places.terms - builder.index(1);
      std::vector<Value> rows;
      for (int i = 0; i < kLanes; ++i)
        rows.push_back(source + places.row(builder.binary(Code::kMin, place + builder.index(i), end)) * channels);
      const Value count = last - place;
      builder.for_loop(out, out_end, kLanes, [&](Value o) {
        std::vector<Value> square;
        for (const Value& row : rows) square.push_back(total(row + o));
        transpose(builder, square);
        for (int i = 0; i < kLanes; ++i) {
          const Value some = builder.select(o + builder.index(i) < places.outs, count, builder.index(0));
          builder.store(to, target + places.out(o + builder.index(i)) + place,
                        builder.convert(square[static_cast<size_t>(i)], problem.dtype), builder.lanes_below(some));
        }
      });
    });
  };
  auto put_strided = [&](Value source, Value target, Value out, Value out_end, Value first, Value last) {
    builder.for_loop(first, last, 1, [&](Value in) {
      builder.for_loop(builder.index(0), builder.index(shape.taps()), 1, [&](Value tap) {
        const Value row = source + (tap * places.ins + in) * channels;
        const Value place = target + places.in(in) + places.tap(tap);
        builder.for_loop(out, out_end, kLanes, [&](Value o) {
          builder.scatter(to, place + places.out(o + builder.iota()), builder.convert(total(row + o), problem.dtype),
                          builder.lanes_below(places.outs - o));
        });
      });
    });
  };
  builder.for_loop(builder.begin(), builder.end(), 1, [&](Value item) {
    const Value block = builder.binary(Code::kRem, item, blocks);
    const Value rest = item / blocks;
    const Value out = builder.binary(Code::kRem, rest, panels) * builder.index(kOuts);
    const Value out_end = builder.binary(Code::kMin, out + builder.index(kOuts), places.outs);
    const Value group = rest / panels;
    const Value source = group * places.terms * channels;
    const Value first = block * builder.index(kChannels);
    const Value last = builder.binary(Code::kMin, first + builder.index(kChannels), places.ins);
    if (is_plain(problem)) {
      const Value taps = builder.index(shape.taps());
      put_plain(source, places.group(group), out, out_end, first * taps, last * taps);
    } else {
      put_strided(source, places.group(group), out, out_end, first, last);
    }
  });
  const int64_t items = shape.groups * panel_count * block_count;
  return writer.finish(items, static_cast<double>(std::min(kChannels, shape.in_channels) * shape.taps()) *
                                  static_cast<double>(std::min(kOuts, shape.out_channels) * blocking.chunks) *
                                  kNanosecondsPerElement);
}

}  // namespace lucid::convolution
