#include "tensor/item.h"

#include <cstring>

#include "base/error.h"
#include "tensor/host_view.h"
#include "tensor/observer.h"

namespace lucid {

Scalar item(const TensorImpl& tensor) {
  if (tensor.numel() != 1)
    throw RuntimeError("item: {} has {} elements; only a one-element tensor can be converted to a number",
                       to_string(tensor.type()), tensor.numel());
  on_read(tensor, ValuesRead::kAll);
  return element_of(tensor);
}

bool truth(const TensorImpl& tensor) {
  if (tensor.numel() != 1)
    throw RuntimeError("bool: the truth value of {} with {} elements is ambiguous; use any() or all()",
                       to_string(tensor.type()), tensor.numel());
  on_read(tensor, ValuesRead::kTruth);
  return element_of(tensor).to_double() != 0;
}

TensorRef tensor_from(const void* data, Dtype dtype, DimsView sizes) {
  const int64_t elements = checked_numel("tensor", sizes, size_of(dtype));
  TensorRef tensor = make_tensor(dtype, Dims(sizes));
  if (elements > 0) std::memcpy(tensor->data(), data, static_cast<size_t>(elements) * size_of(dtype));
  return tensor;
}

TensorRef tensor_from(const Scalar& value, Dtype dtype) {
  TensorRef tensor = make_tensor(dtype, {});
  value.store(dtype, tensor->data());
  return tensor;
}

}  // namespace lucid
