#pragma once

#include <algorithm>

#include "ops/rules.h"

namespace lucid {

/// The axes of a reduction's operand, each list ascending.
struct ReduceAxes {
  Dims kept;
  Dims reduced;
};

inline ReduceAxes reduce_axes(const Call& call) {
  ReduceAxes axes{.kept = {}, .reduced = reduced_axes(call, call.rank(0))};
  for (int64_t axis = 0; axis < call.rank(0); ++axis)
    if (std::ranges::find(axes.reduced, SymInt(axis)) == axes.reduced.end()) axes.kept.push_back(axis);
  return axes;
}

}  // namespace lucid
