#pragma once

#include <algorithm>
#include <vector>

#include "ops/reference.h"
#include "ops/reference_index.h"

/// What ops that order elements share.
namespace lucid {

/// Whether x comes before y: NaN comes after every number.
template <typename T>
bool comes_before(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x < y || (y != y && x == x);
  return x < y;
}

/// Elements in the type that they compute in.
template <typename T>
T typed_element(const HostArray& array, int64_t at) {
  if (size_of(array.type.dtype) == sizeof(T)) return array.as<T>()[at];
  return element_as<T>(array.type.dtype, element_of(array, at));
}

/// The lines of a tensor along one axis: line i starts at start(i), its elements lie `stride` apart.
struct Lines {
  Lines(const Dims& shape, int64_t axis) {
    if (shape.empty()) return;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (static_cast<int64_t>(d) < axis) count *= shape[d];
      if (static_cast<int64_t>(d) > axis) stride *= shape[d];
    }
    count *= stride;
    length = shape[static_cast<size_t>(axis)];
  }
  int64_t start(int64_t line) const { return line / stride * stride * length + line % stride; }

  int64_t count = 1;
  int64_t length = 1;
  int64_t stride = 1;
};

/// An element and where it stands in its line.
template <typename T>
struct Placed {
  T value;
  int64_t index;
};

/// The order of a sort: by value, equal ones by place, so that it is stable whatever algorithm sorts.
template <typename T>
auto placed_order(bool descending) {
  return [descending](const Placed<T>& x, const Placed<T>& y) {
    const bool before = descending ? comes_before(y.value, x.value) : comes_before(x.value, y.value);
    const bool after = descending ? comes_before(x.value, y.value) : comes_before(y.value, x.value);
    return before || (!after && x.index < y.index);
  };
}

/// Calls f(line, elements) for each line of an array.
template <typename T, typename F>
void for_each_line(const HostArray& x, const Lines& lines, F f) {
  std::vector<Placed<T>> elements(static_cast<size_t>(lines.length));
  for (int64_t line = 0; line < lines.count; ++line) {
    for (int64_t i = 0; i < lines.length; ++i)
      elements[static_cast<size_t>(i)] = {typed_element<T>(x, lines.start(line) + i * lines.stride), i};
    f(line, elements);
  }
}

}  // namespace lucid
