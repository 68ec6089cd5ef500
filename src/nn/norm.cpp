#include <lucid/nn/init.h>
#include <lucid/nn/norm.h>
#include <lucid/ops.h>

#include "base/error.h"
#include "nn/parameters.h"
#include "nn/repr.h"

namespace lucid::nn {
namespace {

/// Sets weight to 1 and bias to 0, if present.
void reset_affine(const Module& module) {
  for (const NamedSlot& named : module.parameter_slots())
    if (const Tensor tensor = named.slot.get(); tensor.defined())
      init::constant_(tensor, named.name == "weight" ? 1 : 0);
}

}  // namespace

void LayerNorm::build(std::optional<Dtype> dtype) {
  add_parameter(*this, "weight", options.normalized_shape, dtype, options.elementwise_affine);
  add_parameter(*this, "bias", options.normalized_shape, dtype, options.elementwise_affine && options.bias);
  reset_parameters();
}

void LayerNorm::reset_parameters() { reset_affine(*this); }

Tensor LayerNorm::forward(const Tensor& input) {
  return layer_norm(input, options.normalized_shape, parameter("weight"), parameter("bias"), options.eps);
}

std::string LayerNorm::extra_repr() const {
  return fmt::format("{}, eps={}, elementwise_affine={}, bias={}", tuple_text(options.normalized_shape),
                     number_text(options.eps), bool_text(options.elementwise_affine),
                     bool_text(parameter("bias").defined()));
}

void RMSNorm::build(std::optional<Dtype> dtype) {
  add_parameter(*this, "weight", options.normalized_shape, dtype, options.elementwise_affine);
  reset_parameters();
}

void RMSNorm::reset_parameters() { reset_affine(*this); }

Tensor RMSNorm::forward(const Tensor& input) {
  return rms_norm(input, options.normalized_shape, parameter("weight"), options.eps);
}

std::string RMSNorm::extra_repr() const {
  return fmt::format("{}, eps={}, elementwise_affine={}", tuple_text(options.normalized_shape),
                     options.eps ? number_text(*options.eps) : "None", bool_text(options.elementwise_affine));
}

std::string LocalResponseNorm::extra_repr() const {
  return fmt::format("{}, alpha={}, beta={}, k={}", tree_text(setting("size")), tree_text(setting("alpha")),
                     tree_text(setting("beta")), tree_text(setting("k")));
}

void GroupNorm::build(std::optional<Dtype> dtype) {
  if (options.num_groups <= 0 || options.num_channels % options.num_groups != 0)
    throw ValueError("GroupNorm: {} channels cannot be split into {} groups", options.num_channels, options.num_groups);
  add_parameter(*this, "weight", {options.num_channels}, dtype, options.affine);
  add_parameter(*this, "bias", {options.num_channels}, dtype, options.affine);
  reset_parameters();
}

void GroupNorm::reset_parameters() { reset_affine(*this); }

Tensor GroupNorm::forward(const Tensor& input) {
  return group_norm(input, options.num_groups, parameter("weight"), parameter("bias"), options.eps);
}

std::string GroupNorm::extra_repr() const {
  return fmt::format("{}, {}, eps={}, affine={}, bias={}", options.num_groups, options.num_channels,
                     number_text(options.eps), bool_text(options.affine), bool_text(parameter("bias").defined()));
}

}  // namespace lucid::nn
