#pragma once

#include "base/scalar.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// The value of a one-element tensor. Throws RuntimeError for any other number of elements.
Scalar item(const TensorImpl& tensor);
/// Whether the value of a one-element tensor is not zero. Throws RuntimeError for any other number of elements.
bool truth(const TensorImpl& tensor);
/// A contiguous tensor of the given dtype and sizes, with the elements copied from `data`.
TensorRef tensor_from(const void* data, Dtype dtype, DimsView sizes);
/// A 0-d tensor.
TensorRef tensor_from(const Scalar& value, Dtype dtype);

}  // namespace lucid
