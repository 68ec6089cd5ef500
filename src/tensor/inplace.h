#pragma once

#include <span>

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

// Operations that write to a tensor's memory. When gradients are enabled and the tensor or a source requires one they
// are recorded: the tensor's root, and with it every view, gets a new place in the graph. What was saved before keeps
// its value. All throw RuntimeError where PyTorch does: for leaves that require grad and views of them, for views made
// under no_grad, for tensors whose elements repeat in memory, and when the result does not fit the tensor's shape or
// dtype.

/// self = op(self, others...).
void in_place(const Op& op, TensorImpl& self, std::span<const Operand> others, const Attributes& attributes);

/// self is seen through a view from now on: its shape and strides become those that the op, a view, gives it. Its
/// memory and its views stay as they are.
void view_in_place(const Op& op, TensorImpl& self, const Attributes& attributes);

/// self = source, stretched and converted.
void copy_(TensorImpl& self, const Operand& source);
/// Every element becomes the number or 0-d tensor. Allowed for expanded tensors too.
void fill_(TensorImpl& self, const Operand& value);
void zero_(TensorImpl& self);

}  // namespace lucid
