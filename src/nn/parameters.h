#pragma once

#include <lucid/nn/module.h>

namespace lucid::nn {

/// Registers a parameter whose elements are still to be written, or none.
void add_parameter(Module& module, const char* name, const Shape& shape, std::optional<Dtype> dtype,
                   bool present = true);
/// Gives a parameter another shape; it stays the same tensor. Nothing happens to none.
void resize_parameter(const Tensor& parameter, const Shape& shape);

}  // namespace lucid::nn
