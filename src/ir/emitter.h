#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/op.h"

namespace lucid {

/// Applies ops. Rules are written against it, so one gradient rule or decomposition serves eager execution, graph
/// building and higher derivatives alike. Its methods, one for each entry of the op table, are generated
/// by the build (tools/generate).
class Emitter {
 public:
  virtual ~Emitter() = default;

  /// Applies an op. `attributes` holds one value for each non-tensor parameter.
  virtual Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) = 0;

  /// Applies an op with one result.
  Value emit_one(const Op& op, std::span<const Operand> operands, const Attributes& attributes) {
    return std::move(emit(op, operands, attributes).front());
  }

  // A tensor of `like`'s shape and dtype, filled.
  Value zeros_of(const Value& like);
  Value ones_of(const Value& like);
  /// Converts if needed.
  Value cast(const Value& x, Dtype dtype);
  /// Undoes broadcasting: sums `x` over the dimensions in which it is larger than `shape`.
  Value sum_to(const Value& x, DimsView shape);

#include "ir/emitter_methods.inc"
};

}  // namespace lucid
