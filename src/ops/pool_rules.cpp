#include "ops/pool_rules.h"

#include <algorithm>

namespace lucid {
namespace {

using loop::Builder;
using loop::Code;

/// The maximum number of steps that are unrolled.
constexpr int64_t kMaxUnrolled = 16;

int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// x / y for nonnegative x. Uses a shift where possible, because vectors of 64-bit integers have no division.
loop::Value quotient(Builder& b, loop::Value x, int64_t y) {
  if (y == 1) return x;
  if ((y & (y - 1)) != 0) return x / b.index(y);
  int shift = 0;
  while (int64_t{1} << shift < y) ++shift;
  return b.binary(Code::kShr, x, b.index(shift));
}

loop::Value both(loop::Value x, loop::Value y) { return !x ? y : !y ? x : x & y; }

/// The index of a tap or window along one dimension, and whether it exists. `valid` is empty if it always does.
struct AxisIndex {
  loop::Value index;
  loop::Value valid;
};

AxisIndex tap_index(Builder& b, const PoolAxis& axis, loop::Value window, loop::Value tap) {
  if (axis.adaptive) {
    const loop::Value start = quotient(b, window * b.index(axis.input), axis.output);
    const loop::Value end =
        quotient(b, (window + b.index(1)) * b.index(axis.input) + b.index(axis.output - 1), axis.output);
    return {start + tap, start + tap < end};
  }
  const loop::Value offset = tap * b.index(axis.dilation) - b.index(axis.padding);
  const loop::Value at = window * b.index(axis.stride) + offset;
  // No check is needed where no window extends past the input.
  const bool starts_inside = axis.padding == 0;
  const bool ends_inside =
      (axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation - axis.padding < axis.input;
  loop::Value valid;
  if (!starts_inside) valid = at >= b.index(0);
  if (!ends_inside) valid = both(valid, at < b.index(axis.input));
  return {at, valid};
}

AxisIndex covering_window_index(Builder& b, const PoolAxis& axis, loop::Value element, loop::Value nth) {
  if (axis.adaptive) {
    const loop::Value window = quotient(b, element * b.index(axis.output), axis.input) + nth;
    const loop::Value start = quotient(b, window * b.index(axis.input), axis.output);
    return {window, (window < b.index(axis.output)) & (start <= element)};
  }
  const loop::Value at = element + b.index(axis.padding);
  const loop::Value window = quotient(b, at, axis.stride) + (nth - b.index(axis.covering_windows() - 1));
  // No check is needed if the last window of every element exists.
  loop::Value valid;
  if ((axis.input - 1 + axis.padding) / axis.stride >= axis.output) valid = window < b.index(axis.output);
  if (axis.covering_windows() > 1) valid = both(valid, window >= b.index(0));
  const int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
  if (reach % axis.stride != 0) valid = both(valid, at - window * b.index(axis.stride) < b.index(reach));
  return {window, valid};
}

using MakeAxisIndex = AxisIndex (*)(Builder& b, const PoolAxis& axis, loop::Value at, loop::Value step);

/// Nested loops or unrolled steps over the dimensions from `place.index.size()` on.
PoolState walk(Builder& b, std::span<const PoolAxis> axes, std::span<const loop::Value> at, bool covering,
               bool unrolled, const PoolPlace& place, PoolState state, const PoolStep& step) {
  const size_t d = place.index.size();
  if (d == axes.size()) return step(place, state);
  const MakeAxisIndex make = covering ? covering_window_index : tap_index;
  const int64_t count = covering ? axes[d].covering_windows() : axes[d].taps();
  auto inside = [&](loop::Value i, PoolState carried) {
    const AxisIndex next = make(b, axes[d], at[d], i);
    PoolPlace deeper = place;
    deeper.index.push_back(next.index);
    deeper.valid = both(place.valid, next.valid);
    return walk(b, axes, at, covering, unrolled, deeper, std::move(carried), step);
  };
  if (unrolled) {
    for (int64_t i = 0; i < count; ++i) state = inside(b.index(i), std::move(state));
    return state;
  }
  return b.for_loop(b.index(0), b.index(count), 1, state, [&](loop::Value i, std::span<const loop::Value> carried) {
    return inside(i, PoolState(carried.begin(), carried.end()));
  });
}

int64_t step_count(std::span<const PoolAxis> axes, bool covering) {
  int64_t count = 1;
  for (const PoolAxis& axis : axes) count *= covering ? axis.covering_windows() : axis.taps();
  return count;
}

}  // namespace

int64_t PoolAxis::taps() const {
  return adaptive ? (output == 0 ? 0 : ceil_div(input, output) + (input % output != 0)) : kernel;
}

int64_t PoolAxis::covering_windows() const {
  if (adaptive) return input == 0 ? 0 : ceil_div(output, input) + (output % input != 0);
  return ceil_div((kernel - 1) * dilation + 1, stride);
}

int64_t PoolAxis::place(int64_t window, int64_t tap) const {
  if (adaptive) {
    const int64_t at = window * input / output + tap;
    return at < ceil_div((window + 1) * input, output) ? at : -1;
  }
  const int64_t at = window * stride + tap * dilation - padding;
  return at >= 0 && at < input ? at : -1;
}

int64_t PoolAxis::count(int64_t window, bool include_padding) const {
  if (adaptive) return ceil_div((window + 1) * input, output) - window * input / output;
  const int64_t start = window * stride - padding;
  const int64_t end = std::min(start + kernel, input + padding);
  return include_padding ? end - start : std::min(end, input) - std::max<int64_t>(start, 0);
}

std::vector<PoolAxis> pool_axes(const Call& call, bool backwards) {
  const Dims& size = call.ints("size");
  const Dims& kernel = call.ints("kernel");
  std::vector<PoolAxis> axes;
  const size_t first = call.shape(0).size() - size.size();
  for (size_t d = 0; d < size.size(); ++d) {
    const SymInt of_operand = call.shape(0)[first + d];
    PoolAxis axis{.input = backwards ? size[d] : of_operand, .output = backwards ? of_operand : size[d]};
    if (kernel.empty()) {
      axis.adaptive = true;
    } else {
      axis.kernel = kernel[d];
      axis.stride = call.ints("stride")[d];
      axis.padding = call.ints("padding")[d];
      axis.dilation = call.ints("dilation")[d];
    }
    axes.push_back(axis);
  }
  return axes;
}

PoolState for_each_tap(Builder& b, std::span<const PoolAxis> axes, std::span<const loop::Value> windows,
                       PoolState state, const PoolStep& step) {
  return walk(b, axes, windows, false, step_count(axes, false) <= kMaxUnrolled, {}, std::move(state), step);
}

PoolState for_each_covering_window(Builder& b, std::span<const PoolAxis> axes, std::span<const loop::Value> elements,
                                   PoolState state, const PoolStep& step) {
  return walk(b, axes, elements, true, step_count(axes, true) <= kMaxUnrolled, {}, std::move(state), step);
}

loop::Value counted_elements(Builder& b, const PoolAxis& axis, loop::Value window, bool include_padding) {
  if (axis.adaptive) {
    const loop::Value start = quotient(b, window * b.index(axis.input), axis.output);
    return quotient(b, (window + b.index(1)) * b.index(axis.input) + b.index(axis.output - 1), axis.output) - start;
  }
  const loop::Value start = window * b.index(axis.stride) - b.index(axis.padding);
  const auto min_with = [&](loop::Value x, int64_t y) {
    return b.binary(Code::kMin, x, x.is_vector() ? b.splat(b.index(y)) : b.index(y));
  };
  const loop::Value end = min_with(start + b.index(axis.kernel), axis.input + axis.padding);
  if (include_padding) return end - start;
  return min_with(end, axis.input) - b.binary(Code::kMax, start, start.is_vector() ? b.splat(b.index(0)) : b.index(0));
}

}  // namespace lucid
