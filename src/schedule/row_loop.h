#pragma once

#include <functional>
#include <span>
#include <vector>

#include "loop/builder.h"

namespace lucid {

/// Calls `body(starts, mask)` for the vectors that cover [lo, hi): first whole vectors, `unroll` at a time, with an
/// empty mask, then the rest one by one with a mask of the lanes in range.
void row_loop(loop::Builder& b, loop::Value lo, loop::Value hi, int unroll,
              const std::function<void(std::span<const loop::Value> starts, loop::Value mask)>& body);

/// The unroll factor for a body of this many instructions that hides loop overhead and latency.
int unroll_for(double cost);

/// The index along each dimension of element `linear` of a row-major box.
std::vector<loop::Value> split_index(loop::Builder& b, loop::Value linear, std::span<const loop::Value> sizes);

/// Calls `body(row, index)` for the rows [lo, hi) of a row-major box, with the index along each dimension. The index is
/// incremented from row to row, which needs no divisions.
void for_each_row(loop::Builder& b, loop::Value lo, loop::Value hi, std::span<const loop::Value> sizes,
                  const std::function<void(loop::Value row, std::span<const loop::Value> index)>& body);

}  // namespace lucid
