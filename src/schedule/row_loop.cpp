#include "schedule/row_loop.h"

#include <algorithm>

namespace lucid {

using loop::Code;
using loop::kLanes;

void row_loop(loop::Builder& b, loop::Value lo, loop::Value hi, int unroll,
              const std::function<void(loop::Value i, loop::Value mask)>& body) {
  const int64_t step = static_cast<int64_t>(unroll) * kLanes;
  const loop::Value whole = lo + b.binary(Code::kMax, (hi - lo), b.index(0)) / b.index(step) * b.index(step);
  b.for_loop(lo, whole, step, [&](loop::Value i) {
    for (int k = 0; k < unroll; ++k) body(i + b.index(k * kLanes), loop::Value());
  });
  b.for_loop(whole, hi, kLanes, [&](loop::Value i) { body(i, b.lanes_below(hi - i)); });
}

int unroll_for(double cost) { return cost <= 8 ? 4 : cost <= 16 ? 2 : 1; }

std::vector<loop::Value> split_index(loop::Builder& b, loop::Value linear, std::span<const loop::Value> sizes) {
  std::vector<loop::Value> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 1;) {
    index[d] = b.binary(Code::kRem, linear, sizes[d]);
    linear = linear / sizes[d];
  }
  if (!sizes.empty()) index[0] = linear;
  return index;
}

}  // namespace lucid
