#pragma once

#include <functional>
#include <span>
#include <vector>

#include "loop/builder.h"

namespace lucid {

/// Calls `body(starts, mask)` for vectors covering [lo, hi): whole vectors, `unroll` at a time, with an empty mask,
/// then the rest one by one with a mask of the lanes that exist.
void row_loop(loop::Builder& b, loop::Value lo, loop::Value hi, int unroll,
              const std::function<void(std::span<const loop::Value> starts, loop::Value mask)>& body);

/// How often to repeat a body of this many instructions so that loop overhead and latency disappear.
int unroll_for(double cost);

/// The index along each dimension of element number `linear` of a row-major box.
std::vector<loop::Value> split_index(loop::Builder& b, loop::Value linear, std::span<const loop::Value> sizes);

/// Calls `body(row, index)` for the rows [lo, hi) of a row-major box, with the index along each dimension. These are
/// counted along, which takes no division for a row.
void for_each_row(loop::Builder& b, loop::Value lo, loop::Value hi, std::span<const loop::Value> sizes,
                  const std::function<void(loop::Value row, std::span<const loop::Value> index)>& body);

}  // namespace lucid
