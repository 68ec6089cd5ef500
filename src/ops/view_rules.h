#pragma once

#include <string_view>

#include "ir/op.h"

/// What ops that look at the same memory share.
namespace lucid {

/// An attribute as an axis of operand 0.
inline int64_t view_axis(const Call& call, std::string_view name = "dim") {
  return normalize_axis(call.name(), call.integer(name), call.rank(0));
}

/// A view rule from one on geometries; the shape rule applies it to a contiguous operand.
template <typename F>
Op strided_view(Op op, F f) {
  op.infer = [f](const Call& call) -> std::vector<TensorType> {
    return {{call.dtype(0), f(call, {call.shape(0), contiguous_strides(call.shape(0)), 0}).sizes}};
  };
  op.view = [f](const Call& call, const Geometry& operand) -> std::optional<Geometry> { return f(call, operand); };
  return op;
}

}  // namespace lucid
