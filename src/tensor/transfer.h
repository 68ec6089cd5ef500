#pragma once

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// Whether a call copies a tensor to another device.
bool is_transfer(const Call& call);
/// Computes such a call.
Values transfer(const Call& call);

/// The tensor on a device: itself if it is there already, otherwise a copy. Differentiable.
TensorRef to_device(const TensorRef& tensor, Device device);

}  // namespace lucid
