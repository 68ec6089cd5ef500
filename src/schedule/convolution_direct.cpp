#include <algorithm>
#include <string>

#include "schedule/convolution.h"
#include "schedule/kernel_writer.h"

// Convolutions with few output channels per group: adjacent pixels fill the vectors, weights are broadcast.
namespace lucid::convolution {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

constexpr double kDirectProductsPerNanosecond = 40;
/// Maximum number of output channels that share the loaded vectors of pixels.
constexpr int64_t kMaxChannels = 8;
constexpr int64_t kMaxVectors = 4;
/// Cost of loading a vector of pixels with stride 2, and with a larger stride, relative to adjacent pixels.
constexpr double kStride2Cost = 1.5;
constexpr double kGatherCost = 3;

int64_t largest_divisor(int64_t x, int64_t limit) {
  int64_t divisor = std::min(x, limit);
  while (x % divisor != 0) --divisor;
  return divisor;
}

/// Writes the kernel whose items are a few rows of pixels of a few output channels.
class DirectWriter {
 public:
  DirectWriter(const Problem& problem, const DirectBlocking& blocking, const Images& x, bool may_overrun)
      : problem_(problem),
        shape_(problem.shape),
        blocking_(blocking),
        dtype_(compute_dtype(problem.dtype)),
        narrow_(problem.axis(2).output < kLanes),
        masked_(narrow_ && !may_overrun),
        writer_("convolution_direct_" + std::string(name_of(problem.dtype)) + "_" + std::to_string(blocking.outs) +
                "x" + std::to_string(blocking.rows) + "x" + std::to_string(blocking.vectors * kLanes)),
        builder_(writer_.builder()),
        x_(writer_.buffer(by_image(x.use, x.batch, image_elements(x), x.dtype), x.dtype)),
        weight_(writer_.buffer(problem.weight, problem.dtype)),
        out_(writer_.buffer(problem.y_by_image(), problem.dtype)) {
    if (problem.has_bias) bias_ = writer_.buffer(problem.bias, problem.dtype);
    width_ = writer_.param(problem.axis(2).output);
    heights_ = writer_.param(problem.axis(1).output);
    depths_ = writer_.param(problem.axis(0).output);
    row_blocks_ = writer_.param(ceil_div(problem.axis(1).output, blocking.rows));
    out_blocks_ = writer_.param(shape_.out_channels / blocking.outs);
    groups_ = writer_.param(shape_.groups);
    outs_ = writer_.param(shape_.out_channels);
    outputs_ = writer_.param(shape_.outputs());
    x_image_ = writer_.param(x.batch);
    x_channel_ = writer_.param(x.channel);
    x_group_ = writer_.param(x.channel * shape_.in_channels);
    row_step_ = writer_.param(x.axes[1] * problem.axis(1).stride);
    plane_step_ = writer_.param(x.axes[0] * problem.axis(0).stride);
    plane_tap_ = writer_.param(x.axes[0] * problem.axis(0).dilation);
    row_tap_ = writer_.param(x.axes[1] * problem.axis(1).dilation);
    bias_stride_ = writer_.param(problem.bias_stride);
  }

  KernelStep write() {
    if (narrow_) mask_ = builder_.lanes_below(width_);
    builder_.for_loop(builder_.begin(), builder_.end(), 1, [&](Value item) {
      const Value row_block = builder_.binary(Code::kRem, item, row_blocks_);
      const Value above = item / row_blocks_;
      const Value plane = builder_.binary(Code::kRem, above, depths_);
      const Value rest = above / depths_;
      const Value out_block = builder_.binary(Code::kRem, rest, out_blocks_);
      const Value block = rest / out_blocks_;  // index of the image and group
      write_item(block, out_block * builder_.index(blocking_.outs), plane, row_block * builder_.index(blocking_.rows));
    });
    const int64_t items = shape_.batch * shape_.groups * (shape_.out_channels / blocking_.outs) *
                          problem_.axis(0).output * ceil_div(problem_.axis(1).output, blocking_.rows);
    return writer_.finish(
        items, 20 + static_cast<double>(problem_.work()) / (kDirectProductsPerNanosecond * static_cast<double>(items)),
        items / shape_.batch);
  }

 private:
  int64_t image_elements(const Images& x) const {
    int64_t last = (shape_.groups * shape_.in_channels - 1) * x.channel;
    for (size_t d = 0; d < kAxes; ++d) last += (problem_.axis(d).extent() - 1) * x.axes[d];
    return last + 1;
  }

  void write_item(Value block, Value channel, Value plane, Value start_row) {
    const Value group = builder_.binary(Code::kRem, block, groups_);
    const Value image = block / groups_;
    // The last block of rows starts early enough to be full. Rows that belong to the item above are not stored again.
    const Value row = builder_.binary(Code::kMin, start_row, heights_ - builder_.index(blocking_.rows));
    const Value x_base = image * x_image_ + group * x_group_ + plane * plane_step_ + row * row_step_;
    const auto& strides = problem_.weight_strides;
    const Value weights =
        builder_.index(strides.start) + group * builder_.index(strides.group) + channel * builder_.index(strides.out);
    const Value out = (block * outs_ + channel) * outputs_ + (plane * heights_ + row) * width_;
    std::vector<Value> biases;
    for (int i = 0; problem_.has_bias && i < blocking_.outs; ++i) {
      const Value at = (group * outs_ + channel + builder_.index(i)) * bias_stride_;
      biases.push_back(builder_.splat(builder_.convert(builder_.load(bias_, at), dtype_)));
    }
    auto write_columns = [&](Value first) {
      std::vector<Value> starts;
      for (int v = 0; v < blocking_.vectors; ++v) {
        const Value start = first + builder_.index(v * kLanes);
        starts.push_back(narrow_ ? builder_.index(0)
                                 : builder_.binary(Code::kMin, start, width_ - builder_.index(kLanes)));
      }
      store(accumulate(x_base, weights, starts), biases, out, starts, start_row - row);
    };
    if (problem_.axis(2).output <= blocking_.vectors * kLanes) {
      write_columns(builder_.index(0));
    } else {
      builder_.for_loop(builder_.index(0), width_, blocking_.vectors * kLanes, write_columns);
    }
  }

  using Body = std::function<std::vector<Value>(Value i, std::span<const Value> sums)>;
  /// Emits a loop, or the body alone for a single iteration.
  std::vector<Value> repeat(int64_t count, const std::vector<Value>& sums, const Body& body) {
    if (count == 1) return body(builder_.index(0), sums);
    return builder_.for_loop(builder_.index(0), builder_.index(count), 1, sums, body);
  }

  std::vector<Value> accumulate(Value x_base, Value weights, const std::vector<Value>& starts) {
    const auto& strides = problem_.weight_strides;
    const Value zero = builder_.splat(is_float(dtype_) ? builder_.constant(dtype_, 0.0) : builder_.constant(dtype_, 0));
    const std::vector<Value> zeros(static_cast<size_t>(blocking_.outs * blocking_.rows * blocking_.vectors), zero);
    return repeat(problem_.axis(0).kernel, zeros, [&](Value z, std::span<const Value> outer) {
      return repeat(problem_.axis(1).kernel, {outer.begin(), outer.end()}, [&](Value y, std::span<const Value> middle) {
        const Value x_row = x_base + z * plane_tap_ + y * row_tap_;
        const Value w_row = weights + z * builder_.index(strides.taps[0]) + y * builder_.index(strides.taps[1]);
        return repeat(
            problem_.axis(2).kernel, {middle.begin(), middle.end()}, [&](Value x, std::span<const Value> inner) {
              const Value x_tap = x_row + x * builder_.index(problem_.axis(2).dilation);
              const Value w_tap = w_row + x * builder_.index(strides.taps[2]);
              return repeat(
                  shape_.in_channels, {inner.begin(), inner.end()}, [&](Value c, std::span<const Value> sums) {
                    return add_tap(x_tap + c * x_channel_, w_tap + c * builder_.index(strides.in), starts, sums);
                  });
            });
      });
    });
  }

  std::vector<Value> add_tap(Value x_at, Value w_at, const std::vector<Value>& starts, std::span<const Value> sums) {
    std::vector<Value> pixels;
    for (int r = 0; r < blocking_.rows; ++r)
      for (const Value& start : starts) pixels.push_back(load_pixels(x_at + row_step_ * builder_.index(r), start));
    std::vector<Value> next;
    for (int i = 0; i < blocking_.outs; ++i) {
      const Value at = w_at + builder_.index(i * problem_.weight_strides.out);
      const Value weight = builder_.splat(builder_.convert(builder_.load(weight_, at), dtype_));
      for (const Value& vector : pixels) next.push_back(multiply_add(builder_, vector, weight, sums[next.size()]));
    }
    return next;
  }

  Value load_pixels(Value row, Value start) {
    const int64_t stride = problem_.axis(2).stride;
    if (stride == 1) {
      return builder_.convert(builder_.load_vector(x_, row + start, masked_ ? mask_ : Value()), dtype_);
    }
    const Value mask = narrow_ ? mask_ : Value();
    if (stride == 2)
      return builder_.convert(builder_.load_alternate(x_, row + start * builder_.index(stride), mask), dtype_);
    const Value at = row + (start + builder_.iota()) * builder_.index(stride);
    return builder_.convert(builder_.gather(x_, at, mask), dtype_);
  }

  void store(const std::vector<Value>& sums, const std::vector<Value>& biases, Value out,
             const std::vector<Value>& starts, Value first_row) {
    const bool shared = problem_.axis(1).output % blocking_.rows != 0;
    for (int r = 0; r < blocking_.rows; ++r) {
      auto store_row = [&] {
        for (int i = 0; i < blocking_.outs; ++i) {
          for (size_t v = 0; v < starts.size(); ++v) {
            Value sum = sums[(static_cast<size_t>(i) * static_cast<size_t>(blocking_.rows) + static_cast<size_t>(r)) *
                                 starts.size() +
                             v];
            if (!biases.empty()) sum = sum + biases[static_cast<size_t>(i)];
            const Value at = out + outputs_ * builder_.index(i) + width_ * builder_.index(r) + starts[v];
            builder_.store(out_, at, builder_.convert(sum, problem_.dtype), narrow_ ? mask_ : Value());
          }
        }
      };
      if (shared && r + 1 < blocking_.rows) {
        builder_.if_then(builder_.index(r) >= first_row, store_row);
      } else {
        store_row();
      }
    }
  }

  const Problem& problem_;
  const ConvolutionShape& shape_;
  const DirectBlocking& blocking_;
  Dtype dtype_;
  bool narrow_;  // a row has fewer pixels than a vector
  bool masked_;  // and memory past its end must not be read
  KernelWriter writer_;
  Builder& builder_;
  BufferRef x_;
  BufferRef weight_;
  BufferRef out_;
  BufferRef bias_;
  Value mask_;
  Value width_;
  Value heights_;
  Value depths_;
  Value row_blocks_;
  Value out_blocks_;
  Value groups_;
  Value outs_;
  Value outputs_;
  Value x_image_;
  Value x_channel_;
  Value x_group_;
  Value row_step_;
  Value plane_step_;
  Value plane_tap_;
  Value row_tap_;
  Value bias_stride_;
};

}  // namespace

std::optional<DirectBlocking> choose_direct_blocking(const Problem& problem, const Registers& registers) {
  if (problem.terms() > contraction::kChain) return std::nullopt;
  const int64_t width = problem.axis(2).output;
  const int64_t outs = problem.shape.out_channels;
  const int64_t vectors = ceil_div(width, kLanes);
  // The share of useful lanes with channels or with pixels as lanes.
  const double by_channels = static_cast<double>(outs) / static_cast<double>(ceil_div(outs, kLanes) * kLanes);
  double by_pixels = static_cast<double>(width) / static_cast<double>(vectors * kLanes);
  const int64_t stride = problem.axis(2).stride;
  const double load_cost = stride == 1 ? 1 : stride == 2 ? kStride2Cost : kGatherCost;
  by_pixels /= 1 + (load_cost - 1) / static_cast<double>(std::min(outs, kMaxChannels));
  if (by_pixels < 1.25 * by_channels) return std::nullopt;
  const int per_vector =
      std::max<int>(1, static_cast<int>(size_of(compute_dtype(problem.dtype))) * kLanes / registers.bytes);
  const int64_t accumulators = std::max<int64_t>(1, (registers.count - registers.count / 5) / per_vector);
  DirectBlocking blocking;
  blocking.outs = static_cast<int>(largest_divisor(outs, std::min(kMaxChannels, accumulators)));
  blocking.vectors =
      static_cast<int>(std::clamp<int64_t>(accumulators / blocking.outs, 1, std::min(vectors, kMaxVectors)));
  const int64_t rows = std::clamp<int64_t>(accumulators / (blocking.outs * blocking.vectors), 1, 4);
  blocking.rows = static_cast<int>(std::min<int64_t>(rows, problem.axis(1).output));
  // Rows that divide the image, unless this leaves too few chains to hide their latency.
  const int64_t even = largest_divisor(problem.axis(1).output, blocking.rows);
  if (even * blocking.outs * blocking.vectors >= 8) blocking.rows = static_cast<int>(even);
  return blocking;
}

KernelStep direct_step(const Problem& problem, const DirectBlocking& blocking, const Images& x, bool may_overrun) {
  return DirectWriter(problem, blocking, x, may_overrun).write();
}

}  // namespace lucid::convolution
