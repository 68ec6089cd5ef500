#pragma once

#include <algorithm>
#include <variant>

#include "base/shape.h"
#include "ir/op.h"

namespace lucid {

/// The axes of a reduction's operand, each list ascending.
struct ReduceAxes {
  Dims kept;
  Dims reduced;
};

inline ReduceAxes reduce_axes(const Call& call) {
  const int64_t rank = call.rank(0);
  Dims reduced;
  const Attribute& dim = call.attribute("dim");
  if (const auto* one = std::get_if<Dim>(&dim)) {
    if (rank > 0) reduced.push_back(normalize_axis(call.name(), *one, rank));
  } else if (const auto* several = std::get_if<Dims>(&dim); several && rank > 0) {
    reduced = normalize_axes(call.name(), *several, rank);
  }
  ReduceAxes axes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const bool all = reduced.empty();
    const bool is_reduced = all || std::find(reduced.begin(), reduced.end(), axis) != reduced.end();
    (is_reduced ? axes.reduced : axes.kept).push_back(axis);
  }
  return axes;
}

}  // namespace lucid
