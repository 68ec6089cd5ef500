#pragma once

#include "base/scalar.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// The value of a tensor of one element. Throws RuntimeError for any other number of elements.
Scalar item(const TensorImpl& tensor);
/// A contiguous tensor of the given type with these elements copied in.
TensorRef tensor_from(const void* data, Dtype dtype, DimsView sizes);
/// A 0-d tensor.
TensorRef tensor_from(const Scalar& value, Dtype dtype);

}  // namespace lucid
