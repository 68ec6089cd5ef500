#pragma once

#include <lucid/nn/module.h>

namespace lucid::nn {

/// Registers a parameter whose elements are still to be written, or none.
void add_parameter(Module& module, const char* name, const Shape& shape, std::optional<Dtype> dtype,
                   bool present = true);
/// Gives a parameter another shape; it stays the same tensor. Nothing happens to none.
void resize_parameter(const Tensor& parameter, const Shape& shape);

/// One number for each of `count` dimensions: those given, or the one given repeated. Throws ValueError naming the
/// setting for any other number of them.
Shape for_each_dimension(const std::string& module, const char* setting, const Shape& numbers, int64_t count);

}  // namespace lucid::nn
