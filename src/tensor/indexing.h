#pragma once

#include <optional>
#include <span>
#include <variant>

#include "tensor/tensor_impl.h"

namespace lucid {

/// `start:stop:step`. Bounds may be negative or out of range, as in Python; the step must be positive.
struct SliceIndex {
  std::optional<SymInt> start;
  std::optional<SymInt> stop;
  std::optional<SymInt> step;
};
/// `None`: inserts a dimension of size 1.
struct NewAxis {};
/// `...`: expands to full slices for the dimensions that other items do not index.
struct EllipsisIndex {};

/// One item of an index. A tensor holds integers, or is a bool mask that indexes as many dimensions as it has.
using Index = std::variant<SymInt, SliceIndex, NewAxis, EllipsisIndex, bool, TensorRef>;

/// x[items]: a view for integers, slices and new axes; a copy if any item is a bool or a tensor with dimensions.
/// The dimensions of tensor indices are placed as in NumPy: in place of the indexed dimensions if these are adjacent,
/// otherwise first.
Value get_item(const Value& x, std::span<const Index> items);

/// x[items] = value, in place.
void set_item(TensorImpl& x, std::span<const Index> items, const Operand& value);

}  // namespace lucid
