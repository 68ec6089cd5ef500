#pragma once

#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Scales the gradients of all parameters in place so that their total norm, as of one vector, is at most `max_norm`.
/// Returns the norm before. `norm_type` is the p of the p-norm, and may be infinite.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2.0);

/// Clamps every element of the gradients in place to [-clip_value, clip_value].
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);

}  // namespace lucid::nn
#pragma GCC visibility pop
