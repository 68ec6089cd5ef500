#pragma once

#include <optional>
#include <span>
#include <variant>

#include "tensor/tensor_impl.h"

namespace lucid {

/// `start:stop:step`. Bounds may be negative or out of range, as in Python; the step must be positive.
struct Slice {
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
  std::optional<int64_t> step;
};
/// `None`: a new dimension of size 1.
struct NewAxis {};
/// `...`: as many full slices as there are dimensions left.
struct EllipsisIndex {};

/// One item of an index. Tensors hold integers, or are bool masks that stand for as many dimensions as they have.
using Index = std::variant<int64_t, Slice, NewAxis, EllipsisIndex, bool, TensorRef>;

/// x[items]: a view for integers, slices and new axes, a copy as soon as there is a tensor with dimensions or a bool.
/// Results of tensor indices stand where NumPy puts them: in place of the indexed dimensions if these stood together,
/// otherwise first.
Value get_item(const Value& x, std::span<const Index> items);

/// x[items] = value, in place.
void set_item(TensorImpl& x, std::span<const Index> items, const Operand& value);

}  // namespace lucid
