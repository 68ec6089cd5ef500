#pragma once

#include "ops/pool_rules.h"
#include "ops/reference.h"
#include "ops/reference_index.h"
#include "ops/rules.h"

/// Shared parts of the entries of max and mean pooling.
namespace lucid {

/// The shape of operand 0 with its last sizes replaced by attribute "size".
Dims resized(const Call& call);
/// That shape, with the dtype of operand 0.
std::vector<TensorType> infer_pool(const Call& call);

/// The sizes of the dimensions of operand 0 that are pooled.
Dims pooled_sizes(const Call& call);

std::vector<Sample> window_samples(Fill fill);

/// The index of the current element, split into the leading and the pooled dimensions.
struct ElementIndex {
  ElementIndex(ElementContext& element, int64_t rank, size_t pooled) {
    for (int64_t d = 0; d < rank; ++d) {
      const loop::Value i = element.index(d);
      (d < rank - static_cast<int64_t>(pooled) ? before : last).push_back(i);
      vector |= i.is_vector();
    }
  }
  /// The index of a place in the pooled dimensions of another tensor with the same leading dimensions.
  std::vector<loop::Value> at(const std::vector<loop::Value>& place) const {
    std::vector<loop::Value> index = before;
    index.insert(index.end(), place.begin(), place.end());
    return index;
  }
  loop::Value spread(loop::Value value) const {
    return vector && !value.is_vector() ? value.builder().splat(value) : value;
  }

  std::vector<loop::Value> before;
  std::vector<loop::Value> last;
  bool vector = false;
};

/// Calls f(index, window, first, places) for each window of a tensor of this shape: its row-major index, its index in
/// the pooled dimensions, the position in operand 0 of the forward call where its plane starts, and the positions of
/// its elements in that plane, in order.
template <typename F>
void for_each_window(const Dims& windows, std::span<const PoolAxis> axes, F f) {
  Dims taps;
  int64_t plane = 1;
  for (const PoolAxis& axis : axes) {
    taps.push_back(axis.taps());
    plane *= axis.input;
  }
  const Dims leading(windows.begin(), windows.end() - static_cast<std::ptrdiff_t>(axes.size()));
  int64_t next = 0;
  for_each_index(windows, [&](const Dims& index) {
    const Dims window(index.end() - static_cast<std::ptrdiff_t>(axes.size()), index.end());
    const int64_t first = position(leading, Dims(index.begin(), index.begin() + leading.rank())) * plane;
    std::vector<int64_t> places;
    for_each_index(taps, [&](const Dims& tap) {
      int64_t at = 0;
      for (size_t d = 0; d < axes.size(); ++d) {
        const int64_t i = axes[d].place(window[d], tap[d]);
        if (i < 0) return;
        at = at * axes[d].input + i;
      }
      places.push_back(at);
    });
    f(next++, window, first, places);
  });
}

}  // namespace lucid
