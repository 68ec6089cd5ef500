#pragma once

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// Computes a call of a transfer op (ir/transfer.h).
Values transfer(const Call& call);

/// The tensor on a device: itself if it is there already, otherwise a copy. Differentiable.
TensorRef to_device(const TensorRef& tensor, Device device);

}  // namespace lucid
