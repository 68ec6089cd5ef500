#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace lucid
