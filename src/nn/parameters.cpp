#include "nn/parameters.h"

#include <lucid/ops.h>

#include "base/dtype.h"
#include "base/error.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"

namespace lucid::nn {

void add_parameter(Module& module, const char* name, const Shape& shape, std::optional<Dtype> dtype, bool present) {
  for (const int64_t size : shape)
    if (size < 0) throw ValueError("{}: '{}' cannot have a size of {}", module.type_name(), name, size);
  Tensor tensor;
  if (present) {
    tensor = empty(shape, dtype.value_or(default_float()));
    tensor.requires_grad_();
  }
  module.register_parameter(name, tensor);
}

void resize_parameter(const Tensor& parameter, const Shape& shape) {
  if (!parameter.defined()) return;
  const DeviceScope scope(unwrap(parameter).device());
  set_data(unwrap(parameter), unwrap(empty(shape, parameter.dtype())));
}

Shape for_each_dimension(const std::string& module, const char* setting, const Shape& numbers, int64_t count) {
  if (numbers.size() == 1) return Shape(static_cast<size_t>(count), numbers.front());
  if (static_cast<int64_t>(numbers.size()) != count)
    throw ValueError("{}: {} must be one number or {}, got {}", module, setting, count, numbers.size());
  return numbers;
}

}  // namespace lucid::nn
