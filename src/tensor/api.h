#pragma once

#include <lucid/tensor.h>

#include "tensor/tensor_impl.h"

namespace lucid {

// Conversions between public and internal handles.

inline Tensor wrap(const TensorRef& tensor) { return Tensor(tensor.get()); }
inline Tensor wrap(const Value& value) { return Tensor(tensor_of(value)); }
std::vector<Tensor> wrap(const Values& values);
/// Throws ValueError for a default-constructed Tensor.
TensorImpl& unwrap(const Tensor& tensor);
/// Null for a default-constructed Tensor.
inline TensorRef ref_of(const Tensor& tensor) { return TensorRef(tensor.impl()); }
inline Value value_of(const Tensor& tensor) { return tensor.defined() ? Value(ref_of(tensor)) : Value(); }
/// Borrows the tensor: the argument must outlive the operand.
Operand operand_of(const Argument& argument);
Dims dims_of(const Ints& list);
std::optional<Dims> dims_of(const OptionalInts& list);

}  // namespace lucid
