#include "schedule/row_loop.h"

#include <algorithm>

namespace lucid {

using loop::Code;
using loop::kLanes;

void row_loop(loop::Builder& b, loop::Value lo, loop::Value hi, int unroll,
              const std::function<void(std::span<const loop::Value> starts, loop::Value mask)>& body) {
  const int64_t step = static_cast<int64_t>(unroll) * kLanes;
  const loop::Value whole = lo + b.binary(Code::kMax, (hi - lo), b.index(0)) / b.index(step) * b.index(step);
  b.for_loop(lo, whole, step, [&](loop::Value i) {
    std::vector<loop::Value> starts;
    for (int k = 0; k < unroll; ++k) starts.push_back(i + b.index(k * kLanes));
    body(starts, loop::Value());
  });
  b.for_loop(whole, hi, kLanes, [&](loop::Value i) { body({&i, 1}, b.lanes_below(hi - i)); });
}

int unroll_for(double cost) { return cost <= 8 ? 4 : 2; }

std::vector<loop::Value> split_index(loop::Builder& b, loop::Value linear, std::span<const loop::Value> sizes) {
  std::vector<loop::Value> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 1;) {
    index[d] = b.binary(Code::kRem, linear, sizes[d]);
    linear = linear / sizes[d];
  }
  if (!sizes.empty()) index[0] = linear;
  return index;
}

void for_each_row(loop::Builder& b, loop::Value lo, loop::Value hi, std::span<const loop::Value> sizes,
                  const std::function<void(loop::Value row, std::span<const loop::Value> index)>& body) {
  if (sizes.size() < 2) {
    b.for_loop(lo, hi, 1, [&](loop::Value row) { body(row, std::span(&row, sizes.size())); });
    return;
  }
  const std::vector<loop::Value> first = split_index(b, lo, sizes);
  b.for_loop(lo, hi, 1, first, [&](loop::Value row, std::span<const loop::Value> index) {
    body(row, index);
    std::vector<loop::Value> next(index.begin(), index.end());
    loop::Value step = b.index(1);
    for (size_t d = next.size(); d-- > 0;) {
      next[d] = next[d] + step;
      if (d == 0) break;
      const loop::Value wraps = next[d] == sizes[d];
      next[d] = b.select(wraps, b.index(0), next[d]);
      step = b.select(wraps, b.index(1), b.index(0));
    }
    return next;
  });
}

}  // namespace lucid
