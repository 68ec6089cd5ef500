#include <algorithm>
#include <string>
#include <utility>

#include "schedule/convolution.h"
#include "schedule/kernel_writer.h"
#include "schedule/transpose.h"

// Copies tensors into the layouts that convolutions read.
namespace lucid::convolution {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

constexpr double kNanosecondsPerByte = 0.15;
/// Approximate size in bytes of what an item of a copy writes.
constexpr int64_t kItemBytes = 16 << 10;

/// The elements of the last axis that fit into the copy, and the position of the first.
struct Range {
  int64_t first = 0;
  int64_t last = 0;
  int64_t position = 0;
};

Range range_of(const CopiedAxis& axis, int64_t size) {
  Range range;
  range.first = axis.low < 0 ? (-axis.low + axis.step - 1) / axis.step : 0;
  range.last = size - 1 < axis.low ? 0 : std::min(axis.input, (size - 1 - axis.low) / axis.step + 1);
  range.last = std::max(range.first, range.last);
  range.position = range.first == range.last ? size : axis.low + range.first * axis.step;
  return range;
}

/// Writes the kernel whose items are some rows of a channels-last copy.
class RowCopier {
 public:
  RowCopier(const Problem& problem, const Images& images, int64_t channels, const std::array<CopiedAxis, kAxes>& axes,
            const ChannelsLast& target)
      : images_(images),
        channels_(channels),
        axes_(axes),
        target_(target),
        dtype_(compute_dtype(problem.dtype)),
        batch_(problem.shape.batch),
        adjacent_(images.axes[2] == 1),
        writer_(name()),
        builder_(writer_.builder()),
        from_(writer_.buffer(by_image(images.use, images.batch, image_elements(), images.dtype), images.dtype)),
        to_(writer_.buffer(by_image(target.use, target.image(), target.image(), dtype_), dtype_)) {}

  KernelStep write() {
    const Range range = range_of(axes_[2], target_.sizes[2]);
    const Value group_count = writer_.param(target_.groups);
    const Value image_stride = writer_.param(images_.batch);
    const Value group_stride = writer_.param(images_.channel * channels_);
    channel_stride_ = writer_.param(images_.channel);
    pixel_stride_ = adjacent_ ? builder_.index(1) : writer_.param(images_.axes[2]);
    row_ = writer_.param(target_.row());
    first_ = writer_.param(range.first);
    last_ = writer_.param(range.last);
    position_ = writer_.param(range.position * target_.channels);
    step_ = writer_.param(axes_[2].step * target_.channels);
    pitch_ = writer_.param(target_.channels);
    end_ = writer_.param(channels_ - 1);
    Value sizes[2], strides[2];
    for (size_t d = 0; d < 2; ++d) {
      sizes[d] = writer_.param(target_.sizes[d]);
      strides[d] = writer_.param(images_.axes[d]);
    }
    const int64_t row_bytes = target_.row() * static_cast<int64_t>(size_of(dtype_));
    const int64_t rows_in_item = std::clamp<int64_t>(kItemBytes / std::max<int64_t>(row_bytes, 1), 1, target_.sizes[1]);
    const int64_t item_count = (target_.sizes[1] + rows_in_item - 1) / rows_in_item;
    const Value rows = writer_.param(rows_in_item);
    const Value blocks = writer_.param(item_count);
    auto copy_rows = [&](Value plane, Value z, Value start, Value y) {
      const Value target = (plane * sizes[1] + y) * row_;
      Value exists;
      const Value from_z = source_index(0, z, exists);
      const Value from_y = source_index(1, y, exists);
      const Value source = start + from_z * strides[0] + from_y * strides[1];
      auto copy = [&] {
        if (is_line()) return copy_line(source, target);
        fill_borders(target);
        copy_row(source, target);
      };
      if (exists) {
        builder_.if_then(exists, copy, [&] { fill(target, target + row_); });
      } else {
        copy();
      }
    };
    builder_.for_loop(builder_.begin(), builder_.end(), 1, [&](Value item) {
      const Value first = builder_.binary(Code::kRem, item, blocks) * rows;
      const Value plane = item / blocks;
      const Value z = builder_.binary(Code::kRem, plane, sizes[0]);
      const Value block = plane / sizes[0];
      const Value group = builder_.binary(Code::kRem, block, group_count);
      const Value start = block / group_count * image_stride + group * group_stride;
      builder_.for_loop(first, builder_.binary(Code::kMin, first + rows, sizes[1]), 1,
                        [&](Value y) { copy_rows(plane, z, start, y); });
    });
    const int64_t items = batch_ * target_.groups * target_.sizes[0] * item_count;
    return writer_.finish(items, static_cast<double>(row_bytes * rows_in_item) * kNanosecondsPerByte, items / batch_);
  }

 private:
  int64_t image_elements() const {
    int64_t last = (channels_ * target_.groups - 1) * images_.channel;
    for (size_t d = 0; d < kAxes; ++d) last += (axes_[d].input - 1) * images_.axes[d];
    return last + 1;
  }

  std::string name() const {
    return "channels_last_" + std::string(name_of(images_.dtype)) + (adjacent_ ? "" : "_strided");
  }

  /// The source's index along an outer axis. Adds the condition that it exists to `exists`.
  Value source_index(size_t d, Value position, Value& exists) {
    const CopiedAxis& axis = axes_[d];
    if (axis.low == 0 && axis.step == 1 && target_.sizes[d] <= axis.input) return position;
    const Value low = writer_.param(axis.low);
    const Value step = writer_.param(axis.step);
    const Value offset = position - low;
    const Value index = axis.step == 1 ? offset : offset / step;
    Value inside = (offset >= builder_.index(0)) & (index < writer_.param(axis.input));
    if (axis.step != 1) inside = inside & (index * step == offset);
    exists = exists ? exists & inside : inside;
    return index;
  }

  void fill(Value begin, Value end) {
    const Value zero = builder_.splat(is_float(dtype_) ? builder_.constant(dtype_, 0.0) : builder_.constant(dtype_, 0));
    builder_.for_loop(begin, end, kLanes,
                      [&](Value i) { builder_.store(to_, i, zero, builder_.lanes_below(end - i)); });
  }

  void fill_borders(Value target) {
    const Range range = range_of(axes_[2], target_.sizes[2]);
    const int64_t count = range.last - range.first;
    if (axes_[2].step != 1) {
      fill(target, target + row_);
    } else if (count < target_.sizes[2]) {
      fill(target, target + position_);
      fill(target + position_ + (last_ - first_) * pitch_, target + row_);
    }
  }

  void copy_row(Value source, Value target) {
    if (!adjacent_) {
      copy_pixels(source, target);
    } else if (target_.channels == 1) {
      spread_line(source + first_, target + position_);
    } else {
      copy_squares(source, target + position_);
    }
  }

  /// Whether there is one channel, whose pixels are adjacent in source and target.
  bool is_line() const { return adjacent_ && target_.channels == 1 && axes_[2].step == 1; }

  /// Copies a line with its padding: lanes outside the pixels load zeros.
  void copy_line(Value source, Value target) {
    const Value from = source + first_ - position_;
    const Value end = position_ + (last_ - first_);
    builder_.for_loop(builder_.index(0), row_, kLanes, [&](Value i) {
      const Value inside = builder_.lanes_below(end - i) & ~builder_.lanes_below(position_ - i);
      const Value elements = builder_.convert(builder_.load_vector(from_, from + i, inside), dtype_);
      builder_.store(to_, target + i, elements, builder_.lanes_below(row_ - i));
    });
  }

  /// Copies one channel with zeros between its pixels.
  void spread_line(Value source, Value target) {
    const Value count = last_ - first_;
    builder_.for_loop(builder_.index(0), count, kLanes, [&](Value i) {
      const Value mask = builder_.lanes_below(count - i);
      const Value elements = builder_.convert(builder_.load_vector(from_, source + i, mask), dtype_);
      builder_.scatter(to_, target + (i + builder_.iota()) * step_, elements, mask);
    });
  }

  /// Copies pixel by pixel, with channels as lanes.
  void copy_pixels(Value source, Value target) {
    const Value channels = end_ + builder_.index(1);
    const bool is_adjacent = images_.channel == 1;
    builder_.for_loop(first_, last_, 1, [&](Value pixel) {
      const Value from = source + pixel * pixel_stride_;
      const Value to = target + position_ + (pixel - first_) * step_;
      builder_.for_loop(builder_.index(0), channels, kLanes, [&](Value c) {
        const Value mask = builder_.lanes_below(channels - c);
        const Value elements = is_adjacent
                                   ? builder_.load_vector(from_, from + c, mask)
                                   : builder_.gather(from_, from + (c + builder_.iota()) * channel_stride_, mask);
        builder_.store(to_, to + c, builder_.convert(elements, dtype_), mask);
      });
    });
  }

  /// Copies squares of adjacent pixels and channels, transposed.
  void copy_squares(Value source, Value target) {
    const bool whole = target_.channels % kLanes == 0;
    auto channels_at = [&](Value c) {
      auto square_at = [&](Value pixel, Value mask) {
        std::vector<Value> square;
        for (int i = 0; i < kLanes; ++i) {
          if (i >= channels_) {
            square.emplace_back();
            continue;
          }
          const Value channel =
              channels_ < kLanes ? builder_.index(i) : builder_.binary(Code::kMin, c + builder_.index(i), end_);
          const Value at = source + channel * channel_stride_ + pixel;
          square.push_back(builder_.convert(builder_.load_vector(from_, at, mask), dtype_));
        }
        transpose(builder_, square);
        return square;
      };
      const Value count = pitch_ - c;
      const Value lanes = whole ? Value() : builder_.lanes_below(count);
      const Value full = first_ + ((last_ - first_) & builder_.index(-kLanes));
      auto position = [&](Value pixel, int i) { return target + c + (pixel - first_ + builder_.index(i)) * step_; };
      builder_.for_loop(first_, full, kLanes, [&](Value pixel) {
        const std::vector<Value> square = square_at(pixel, {});
        for (int i = 0; i < kLanes; ++i) builder_.store(to_, position(pixel, i), square[static_cast<size_t>(i)], lanes);
      });
      builder_.if_then(full < last_, [&] {
        const std::vector<Value> square = square_at(full, builder_.lanes_below(last_ - full));
        for (int i = 0; i < kLanes; ++i) {
          const Value some = builder_.select(full + builder_.index(i) < last_, count, builder_.index(0));
          builder_.store(to_, position(full, i), square[static_cast<size_t>(i)], builder_.lanes_below(some));
        }
      });
    };
    if (channels_ <= kLanes) {
      channels_at(builder_.index(0));
    } else {
      builder_.for_loop(builder_.index(0), pitch_, kLanes, channels_at);
    }
  }

  const Images& images_;
  int64_t channels_;
  const std::array<CopiedAxis, kAxes>& axes_;
  const ChannelsLast& target_;
  Dtype dtype_;
  int64_t batch_;
  bool adjacent_;
  KernelWriter writer_;
  Builder& builder_;
  BufferRef from_;
  BufferRef to_;
  Value channel_stride_;
  Value pixel_stride_;
  Value row_;
  Value first_;
  Value last_;
  Value position_;
  Value step_;
  Value pitch_;
  Value end_;
};

/// Whether an axis is copied as a whole, without padding.
bool is_whole(const CopiedAxis& axis, int64_t size) { return axis.low == 0 && axis.step == 1 && axis.input == size; }

}  // namespace

KernelStep channels_last_step(const Problem& problem, const Images& given, int64_t channels,
                              const std::array<CopiedAxis, kAxes>& given_axes, const ChannelsLast& given_target) {
  Images images = given;
  std::array<CopiedAxis, kAxes> axes = given_axes;
  ChannelsLast target = given_target;
  // Merges contiguous rows without padding, since fewer squares at their ends are then partial, unless this leaves too
  // little for threads to share.
  for (size_t d : {1, 0}) {
    if (target.row() * target.sizes[d] * static_cast<int64_t>(size_of(compute_dtype(problem.dtype))) > 2 * kItemBytes)
      break;
    const bool is_contiguous = is_whole(axes[2], target.sizes[2]) && is_whole(axes[d], target.sizes[d]) &&
                               (axes[d].input == 1 || images.axes[d] == images.axes[2] * axes[2].input);
    if (!is_contiguous) break;
    target.sizes[2] *= std::exchange(target.sizes[d], 1);
    axes[2].input *= std::exchange(axes[d].input, 1);
  }
  return RowCopier(problem, images, channels, axes, target).write();
}

}  // namespace lucid::convolution
