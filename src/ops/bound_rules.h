#pragma once

#include <vector>

#include "ir/op.h"

/// The values that operands may have (Op::bounds), for several ops.
namespace lucid {

/// Operand 1 holds indices into the dimension in attribute "dim".
std::vector<ValueBounds> bounds_along_dim(const Call& call);
/// The operands from `first` on hold indices into the leading dimensions of operand 0.
std::vector<ValueBounds> bounds_of_leading_indices(const Call& call, size_t first);
template <size_t first>
std::vector<ValueBounds> bounds_of_leading_indices(const Call& call) {
  return bounds_of_leading_indices(call, first);
}
/// Operand 1 holds rows of operand 0, a table.
std::vector<ValueBounds> bounds_of_rows(const Call& call);
/// Operand 1 holds class indices, unless it holds probabilities.
std::vector<ValueBounds> bounds_of_target(const Call& call);
/// Operand `operand` holds probabilities.
ValueBounds bounds_of_probability(size_t operand, const char* noun);

}  // namespace lucid
