#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/op.h"

namespace lucid {

/// The values that the elements of an operand must have: class labels, indices or probabilities. A kernel only reports
/// that some element has another value; these bounds say which.
struct ValueBounds {
  size_t operand = 0;
  /// What messages call an element, such as "target".
  std::string noun;
  int64_t lowest = 0;
  /// Not included, except for floats.
  int64_t end = 0;
  /// What the bounds of integers come from, such as "3 classes".
  std::string origin;
  /// A number that is accepted although it is outside.
  std::optional<int64_t> ignored;
};

/// The bounds that the kernels of an op enforce, in the order of the operands. Empty for ops that accept all values.
/// The shapes of the operands must be valid.
std::vector<ValueBounds> value_bounds(const Call& call);

}  // namespace lucid
