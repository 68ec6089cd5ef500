#pragma once

#include <span>

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

// Operations that write to a tensor's memory. They are recorded if gradients are enabled and the tensor or a source
// requires grad: the tensor's root, and with it every view, gets a new position in the graph. Saved values do not
// change. All throw RuntimeError where PyTorch does: for leaves that require grad and views of them, for views created
// under no_grad, for tensors whose elements repeat in memory, and if the result does not fit the tensor's shape or
// dtype.

/// self = op(self, others...).
void in_place(const Op& op, TensorImpl& self, std::span<const Operand> others, const Attributes& attributes);

/// Applies a view op to the handle itself: its shape and strides become those of the view. Its memory and its existing
/// views are unchanged.
void view_in_place(const Op& op, TensorImpl& self, const Attributes& attributes);

/// self = source, broadcast and converted.
void copy_(TensorImpl& self, const Operand& source);
/// Sets every element to a number or 0-d tensor. Also allowed for expanded tensors.
void fill_(TensorImpl& self, const Operand& value);
void zero_(TensorImpl& self);

}  // namespace lucid
