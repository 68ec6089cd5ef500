#pragma once

#include <lucid/nn/module.h>

namespace lucid::nn {

/// Registers an uninitialized parameter, or an undefined one if not `present`.
void add_parameter(Module& module, const char* name, const Shape& shape, std::optional<Dtype> dtype,
                   bool present = true);
/// Changes the shape of a parameter, which stays the same tensor. Does nothing if it is undefined.
void resize_parameter(const Tensor& parameter, const Shape& shape);

/// One number for each of `count` dimensions: `numbers` itself, or its single number repeated. Throws ValueError,
/// naming the setting, if it has any other size.
Shape for_each_dimension(const std::string& module, const char* setting, const Shape& numbers, int64_t count);

}  // namespace lucid::nn
