#pragma once

#include <lucid/tensor.h>

#include "tensor/api.h"
#include "tensor/eager.h"

namespace lucid::nn {

/// The size of a dimension. Unlike Tensor::size(), which returns a plain integer, it does not make a recording depend
/// on the size; comparing the result with something does, as far as the outcome goes.
inline SymInt dim_of(const Tensor& tensor, int64_t axis) { return unwrap(tensor).sizes()[static_cast<size_t>(axis)]; }

/// 0, 1, 2, ... for each element along a dimension.
inline Tensor positions_along(const Tensor& tensor, int64_t axis) {
  const DeviceScope device(unwrap(tensor).device());
  return wrap(eager().arange(0, dim_of(tensor, axis), 1, Dtype::kI64));
}

}  // namespace lucid::nn
