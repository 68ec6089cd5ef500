#pragma once

#include <algorithm>
#include <vector>

#include "ops/reference.h"
#include "ops/rules.h"

/// Helpers for references of reductions.
namespace lucid {

/// Reduces values in the canonical order. Element i belongs to lane i mod 16 of block i / 256. Each lane of a block
/// accumulates its elements in order, starting from the identity. Blocks are combined pairwise, like the carries of a
/// binary counter, and the remaining partial results from the smallest to the largest. The lanes are combined last.
/// `take` adds an element to a lane.
template <typename T, typename Element, typename G, typename F>
T canonical_reduce(const std::vector<Element>& values, T identity, G take, F combine) {
  constexpr size_t kLanes = 16;
  constexpr size_t kBlock = 256;
  using Lanes = std::array<T, kLanes>;
  const auto combine_lanes = [&](const Lanes& a, const Lanes& b) {
    Lanes result;
    for (size_t lane = 0; lane < kLanes; ++lane) result[lane] = combine(a[lane], b[lane]);
    return result;
  };
  std::vector<Lanes> partials;  // one for each set bit of `blocks`, the largest first
  size_t blocks = 0;
  for (size_t start = 0; start < values.size(); start += kBlock, ++blocks) {
    Lanes block;
    block.fill(identity);
    for (size_t i = start; i < std::min(values.size(), start + kBlock); ++i)
      block[i % kLanes] = take(block[i % kLanes], Element(values[i]));
    for (size_t bit = blocks; bit & 1; bit >>= 1) {
      block = combine_lanes(partials.back(), block);
      partials.pop_back();
    }
    partials.push_back(block);
  }
  if (partials.empty()) return identity;
  Lanes total = partials.back();
  for (size_t i = partials.size() - 1; i-- > 0;) total = combine_lanes(partials[i], total);
  for (size_t distance = kLanes / 2; distance > 0; distance /= 2)
    for (size_t lane = 0; lane < distance; ++lane) total[lane] = combine(total[lane], total[lane + distance]);
  return total[0];
}

template <typename T, typename F>
T canonical_reduce(const std::vector<T>& values, T identity, F combine) {
  return canonical_reduce(values, identity, combine, combine);
}

/// Calls f(i, values) for each element i of the result, with the elements that are reduced to it in row-major order,
/// converted to dtype `as`.
template <typename T, typename F>
void for_each_group(const HostCall& call, Dtype as, F f) {
  const Dims& shape = call.in(0).type.shape;
  const std::vector<T> x = read_operand<T>(call, 0, as, shape);
  const Dims axes = reduced_axes(call, shape.rank());
  const Dims strides = contiguous_strides(shape);
  const Dims kept = contiguous_strides(reduced_shape(shape, axes, true));
  std::vector<std::vector<T>> groups(static_cast<size_t>(numel(reduced_shape(shape, axes, true))));
  for (int64_t i = 0; i < numel(shape); ++i) {
    int64_t group = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      if (std::ranges::find(axes, SymInt(d)) == axes.end()) group += i / strides[d] % shape[d] * kept[d];
    groups[static_cast<size_t>(group)].push_back(x[static_cast<size_t>(i)]);
  }
  for (size_t i = 0; i < groups.size(); ++i) f(static_cast<int64_t>(i), groups[i]);
}

}  // namespace lucid
