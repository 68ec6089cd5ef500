#pragma once

#include <lucid/nn/fields.h>

#include <initializer_list>
#include <string_view>

namespace lucid::nn {

/// Applies an op of the op table to tensors. Undefined tensors stand for omitted operands; attributes that `settings`
/// does not name have their defaults.
std::vector<Tensor> call_ops(std::string_view op, const std::vector<Tensor>& tensors, const Settings& settings = {});
Tensor call_op(std::string_view op, const std::vector<Tensor>& tensors, const Settings& settings = {});
/// The same for a random op, with the default generator.
Tensor call_random_op(std::string_view op, const std::vector<Tensor>& tensors, const Settings& settings = {});

}  // namespace lucid::nn
