#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/op.h"
#include "loop/builder.h"

/// Shared parts of pooling ops: windows over the last dimensions of a tensor.
namespace lucid {

/// The geometry of windows along one dimension: tap t of window o is at o * stride + t * dilation - padding. Adaptive
/// windows divide the dimension: window o is [o * input / output, (o + 1) * input / output), rounded outwards.
struct PoolAxis {
  int64_t input = 1;
  int64_t output = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
  bool adaptive = false;

  /// The maximum number of elements in a window.
  int64_t taps() const;
  /// The maximum number of windows that contain one element.
  int64_t covering_windows() const;
  /// The index of a tap in the input, or -1 if it is outside.
  int64_t place(int64_t window, int64_t tap) const;
  /// The number of elements that a mean over a window counts.
  int64_t count(int64_t window, bool include_padding) const;
};

/// The axes of a call with attributes kernel, stride, padding, dilation and size; an empty kernel means adaptive
/// windows. `size` holds the sizes of the result: the numbers of windows or, for gradients (`backwards`), the sizes of
/// the tensor that they cover.
std::vector<PoolAxis> pool_axes(const Call& call, bool backwards);

/// An index of the pooled dimensions as kernels compute it, and whether it exists. `valid` is empty if it always does.
struct PoolPlace {
  std::vector<loop::Value> index;
  loop::Value valid;
};

using PoolState = std::vector<loop::Value>;
using PoolStep = std::function<PoolState(const PoolPlace& place, const PoolState& state)>;

/// Applies `step` to the state for all taps of the window at `windows`, in row-major order. A few steps are unrolled;
/// more become loops.
PoolState for_each_tap(loop::Builder& b, std::span<const PoolAxis> axes, std::span<const loop::Value> windows,
                       PoolState state, const PoolStep& step);
/// The same for all windows that may contain the element at `elements`.
PoolState for_each_covering_window(loop::Builder& b, std::span<const PoolAxis> axes,
                                   std::span<const loop::Value> elements, PoolState state, const PoolStep& step);

/// The number of elements along one dimension that a mean over the window at this index counts, an i64.
loop::Value counted_elements(loop::Builder& b, const PoolAxis& axis, loop::Value window, bool include_padding);

}  // namespace lucid
