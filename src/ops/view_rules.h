#pragma once

#include "ir/op.h"

/// Shared parts of view ops.
namespace lucid {

/// Completes a view op from `f`, which maps the geometry of the operand to that of the result. The shape rule applies
/// `f` to a contiguous operand.
template <typename F>
Op strided_view(Op op, F f) {
  op.infer = [f](const Call& call) -> std::vector<TensorType> {
    return {{call.dtype(0), f(call, {call.shape(0), contiguous_strides(call.shape(0)), 0}).sizes}};
  };
  op.view = [f](const Call& call, const Geometry& operand) -> std::optional<Geometry> { return f(call, operand); };
  return op;
}

}  // namespace lucid
