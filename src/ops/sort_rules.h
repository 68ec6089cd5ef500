#pragma once

#include <algorithm>
#include <vector>

#include "ops/reference.h"
#include "ops/reference_index.h"

/// Shared parts of ops that order elements.
namespace lucid {

/// Whether x sorts before y. NaN sorts after every number.
template <typename T>
bool sorts_before(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x < y || (y != y && x == x);
  return x < y;
}

/// Element `at` of an array, in the type that its dtype computes in.
template <typename T>
T typed_element(const HostArray& array, int64_t at) {
  if (size_of(array.type.dtype) == sizeof(T)) return array.as<T>()[at];
  return element_as<T>(array.type.dtype, element_of(array, at));
}

/// The 1-d lines of a tensor along one axis; none if the tensor has no elements. Line i starts at element start(i), and
/// its elements are `stride` apart.
struct Lines {
  Lines(const Dims& shape, int64_t axis) {
    if (shape.empty()) return;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (static_cast<int64_t>(d) < axis) count *= shape[d];
      if (static_cast<int64_t>(d) > axis) stride *= shape[d];
    }
    count *= stride;
    length = shape[static_cast<size_t>(axis)];
    if (length == 0) count = 0;
  }
  int64_t start(int64_t line) const { return line / stride * stride * length + line % stride; }

  int64_t count = 1;
  int64_t length = 1;
  int64_t stride = 1;
};

/// An element and its index in its line.
template <typename T>
struct IndexedElement {
  T value;
  int64_t index;
};

/// The order of a sort: by value, then by index, so that every sorting algorithm is stable.
template <typename T>
auto sort_order(bool descending) {
  return [descending](const IndexedElement<T>& x, const IndexedElement<T>& y) {
    const bool before = descending ? sorts_before(y.value, x.value) : sorts_before(x.value, y.value);
    const bool after = descending ? sorts_before(x.value, y.value) : sorts_before(y.value, x.value);
    return before || (!after && x.index < y.index);
  };
}

/// Calls f(line, elements) for each line of an array.
template <typename T, typename F>
void for_each_line(const HostArray& x, const Lines& lines, F f) {
  if (lines.count == 0) return;  // the length of a line may be huge
  std::vector<IndexedElement<T>> elements(static_cast<size_t>(lines.length));
  for (int64_t line = 0; line < lines.count; ++line) {
    for (int64_t i = 0; i < lines.length; ++i)
      elements[static_cast<size_t>(i)] = {typed_element<T>(x, lines.start(line) + i * lines.stride), i};
    f(line, elements);
  }
}

}  // namespace lucid
