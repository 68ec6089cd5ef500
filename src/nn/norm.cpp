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

LayerNorm::LayerNorm(Shape normalized_shape, double eps, bool elementwise_affine, bool bias, std::optional<Dtype> dtype)
    : normalized_shape(std::move(normalized_shape)), eps(eps), elementwise_affine(elementwise_affine), has_bias_(bias) {
  build(dtype);
}

void LayerNorm::fields(Fields& visit) {
  visit("normalized_shape", normalized_shape);
  visit("eps", eps);
  visit("elementwise_affine", elementwise_affine);
  visit("_bias", has_bias_);
}

void LayerNorm::build(std::optional<Dtype> dtype) {
  add_parameter(*this, "weight", normalized_shape, dtype, elementwise_affine);
  add_parameter(*this, "bias", normalized_shape, dtype, elementwise_affine && has_bias_);
  reset_parameters();
}

void LayerNorm::reset_parameters() { reset_affine(*this); }

Tensor LayerNorm::forward(const Tensor& input) {
  return layer_norm(input, normalized_shape, parameter("weight"), parameter("bias"), eps);
}

std::string LayerNorm::extra_repr() const {
  return fmt::format("{}, eps={}, elementwise_affine={}, bias={}", tuple_text(normalized_shape), number_text(eps),
                     bool_text(elementwise_affine), bool_text(parameter("bias").defined()));
}

RMSNorm::RMSNorm(Shape normalized_shape, std::optional<double> eps, bool elementwise_affine, std::optional<Dtype> dtype)
    : normalized_shape(std::move(normalized_shape)), eps(eps), elementwise_affine(elementwise_affine) {
  build(dtype);
}

void RMSNorm::fields(Fields& visit) {
  visit("normalized_shape", normalized_shape);
  visit("eps", eps);
  visit("elementwise_affine", elementwise_affine);
}

void RMSNorm::build(std::optional<Dtype> dtype) {
  add_parameter(*this, "weight", normalized_shape, dtype, elementwise_affine);
  reset_parameters();
}

void RMSNorm::reset_parameters() { reset_affine(*this); }

Tensor RMSNorm::forward(const Tensor& input) { return rms_norm(input, normalized_shape, parameter("weight"), eps); }

std::string RMSNorm::extra_repr() const {
  return fmt::format("{}, eps={}, elementwise_affine={}", tuple_text(normalized_shape),
                     eps ? number_text(*eps) : "None", bool_text(elementwise_affine));
}

std::string LocalResponseNorm::extra_repr() const {
  return fmt::format("{}, alpha={}, beta={}, k={}", item_text(setting("size")), item_text(setting("alpha")),
                     item_text(setting("beta")), item_text(setting("k")));
}

GroupNorm::GroupNorm(int64_t num_groups, int64_t num_channels, double eps, bool affine, std::optional<Dtype> dtype)
    : num_groups(num_groups), num_channels(num_channels), eps(eps), affine(affine) {
  build(dtype);
}

void GroupNorm::fields(Fields& visit) {
  visit("num_groups", num_groups);
  visit("num_channels", num_channels);
  visit("eps", eps);
  visit("affine", affine);
}

void GroupNorm::build(std::optional<Dtype> dtype) {
  if (num_groups <= 0 || num_channels % num_groups != 0)
    throw ValueError("GroupNorm: {} channels cannot be split into {} groups", num_channels, num_groups);
  add_parameter(*this, "weight", {num_channels}, dtype, affine);
  add_parameter(*this, "bias", {num_channels}, dtype, affine);
  reset_parameters();
}

void GroupNorm::reset_parameters() { reset_affine(*this); }

Tensor GroupNorm::forward(const Tensor& input) {
  return group_norm(input, num_groups, parameter("weight"), parameter("bias"), eps);
}

std::string GroupNorm::extra_repr() const {
  return fmt::format("{}, {}, eps={}, affine={}, bias={}", num_groups, num_channels, number_text(eps),
                     bool_text(affine), bool_text(parameter("bias").defined()));
}

}  // namespace lucid::nn
