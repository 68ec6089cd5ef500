#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/op.h"
#include "loop/builder.h"

/// What pools share: windows of the last dimensions of a tensor.
namespace lucid {

/// How windows lie along one dimension: tap t of window o stands at o * stride + t * dilation - padding. Adaptive
/// windows divide the dimension: window o is [o * input / output, (o + 1) * input / output), rounded outwards.
struct PoolAxis {
  int64_t input = 1;
  int64_t output = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
  bool adaptive = false;

  /// The most elements that a window has, and the most windows that an element lies in.
  int64_t taps() const;
  int64_t homes() const;
  /// The place of a tap, or -1 when the window has no such element.
  int64_t place(int64_t window, int64_t tap) const;
  /// How many elements a mean over a window counts.
  int64_t count(int64_t window, bool include_padding) const;
};

/// The axes of a call with attributes kernel, stride, padding, dilation and size; an empty kernel means adaptive
/// windows. `size` has the sizes of what is made: windows, or, for gradients (`backwards`), the tensor that has them.
std::vector<PoolAxis> pool_axes(const Call& call, bool backwards);

/// A place in the input as kernels compute it.
struct PoolPlace {
  std::vector<loop::Value> index;
  loop::Value valid;
};

using PoolState = std::vector<loop::Value>;
using PoolStep = std::function<PoolState(const PoolPlace& place, const PoolState& state)>;

/// Takes a state through all taps of the window at `windows`, in row-major order, or through all windows that the
/// element at `elements` may lie in. Few steps are written out, many become loops.
PoolState for_each_tap(loop::Builder& b, std::span<const PoolAxis> axes, std::span<const loop::Value> windows,
                       PoolState state, const PoolStep& step);
PoolState for_each_home(loop::Builder& b, std::span<const PoolAxis> axes, std::span<const loop::Value> elements,
                        PoolState state, const PoolStep& step);

/// How many elements a mean over the windows at these indices counts along one dimension, an i64.
loop::Value counted(loop::Builder& b, const PoolAxis& axis, loop::Value window, bool include_padding);

}  // namespace lucid
