#pragma once

#include <cstring>

#include "ir/host_call.h"

/// Helpers for references of ops that move elements.
namespace lucid {

/// Calls f(index) for each index of a shape, in row-major order.
template <typename F>
void for_each_index(const Dims& shape, F f) {
  if (numel(shape) == 0) return;
  Dims index(shape.size());
  while (true) {
    f(index);
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

/// The row-major position of an index.
inline int64_t position(const Dims& shape, const Dims& index) {
  int64_t at = 0;
  for (size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
  return at;
}

inline char* element_of(const HostArray& array, int64_t at) {
  return array.as<char>() + at * static_cast<int64_t>(size_of(array.type.dtype));
}

/// Copies one element between arrays of one dtype.
inline void copy_element(const HostArray& from, int64_t i, const HostArray& to, int64_t j) {
  std::memcpy(element_of(to, j), element_of(from, i), size_of(to.type.dtype));
}

/// The reference of an op that rearranges elements of operand 0. `source(call, index)` returns the index in the operand
/// of the element at `index` of the result, or nullopt if that element is zero.
template <typename F>
auto reference_moved(F source) {
  return [source](HostCall& call) {
    const HostArray out = call.make_output(infer_types(call).front());
    int64_t at = 0;
    for_each_index(out.type.shape, [&](const Dims& index) {
      const std::optional<Dims> from = source(call, index);
      if (from)
        copy_element(call.in(0), position(call.in(0).type.shape, *from), out, at);
      else
        std::memset(element_of(out, at), 0, size_of(out.type.dtype));
      ++at;
    });
  };
}

}  // namespace lucid
