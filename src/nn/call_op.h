#pragma once

#include <lucid/nn/item.h>

#include <initializer_list>
#include <string_view>

namespace lucid::nn {

using OpSettings = std::vector<std::pair<std::string, Item>>;

/// Applies an op of the table to tensors, none standing for those left out; attributes that are not named have their
/// defaults.
std::vector<Tensor> call_ops(std::string_view op, const std::vector<Tensor>& tensors, const OpSettings& settings = {});
Tensor call_op(std::string_view op, const std::vector<Tensor>& tensors, const OpSettings& settings = {});
/// The same for an op that draws from the default generator.
Tensor draw_op(std::string_view op, const std::vector<Tensor>& tensors, const OpSettings& settings = {});

}  // namespace lucid::nn
