#include <lucid/nn/init.h>
#include <lucid/nn/linear.h>
#include <lucid/ops.h>

#include <cmath>

#include "base/error.h"
#include "nn/dependency.h"
#include "nn/parameters.h"
#include "nn/repr.h"
#include "tensor/observer.h"

namespace lucid::nn {

void Linear::build(std::optional<Dtype> dtype) {
  add_parameter(*this, "weight", {options.out_features, options.in_features}, dtype);
  add_parameter(*this, "bias", {options.out_features}, dtype, options.bias);
  reset_parameters();
}

void Linear::reset_parameters() {
  init::kaiming_uniform_(parameter("weight"), std::sqrt(5.0));
  if (const Tensor bias = parameter("bias"); bias.defined()) {
    const double bound = options.in_features > 0 ? 1 / std::sqrt(static_cast<double>(options.in_features)) : 0;
    init::uniform_(bias, -bound, bound);
  }
}

Tensor Linear::forward(const Tensor& input) { return linear(input, parameter("weight"), parameter("bias")); }

std::string Linear::extra_repr() const {
  return fmt::format("in_features={}, out_features={}, bias={}", options.in_features, options.out_features,
                     bool_text(parameter("bias").defined()));
}

void LazyLinear::build(std::optional<Dtype> dtype) {
  options.in_features = 0;
  add_parameter(*this, "weight", {0}, dtype);
  add_parameter(*this, "bias", {0}, dtype, options.bias);
}

void LazyLinear::reset_parameters() {
  if (options.in_features > 0) Linear::reset_parameters();
}

void LazyLinear::materialize(int64_t features) {
  on_setup();
  options.in_features = features;
  resize_parameter(parameter("weight"), {options.out_features, options.in_features});
  resize_parameter(parameter("bias"), {options.out_features});
  Linear::reset_parameters();
  changed();
}

Tensor LazyLinear::forward(const Tensor& input) {
  if (options.in_features == 0) materialize(input.size(-1));
  return Linear::forward(input);
}

void Bilinear::build(std::optional<Dtype> dtype) {
  if (options.in1_features <= 0)
    throw ValueError("Bilinear: in1_features must be above 0, got {}", options.in1_features);
  add_parameter(*this, "weight", {options.out_features, options.in1_features, options.in2_features}, dtype);
  add_parameter(*this, "bias", {options.out_features}, dtype, options.bias);
  reset_parameters();
}

void Bilinear::reset_parameters() {
  const double bound = 1 / std::sqrt(static_cast<double>(options.in1_features));
  init::uniform_(parameter("weight"), -bound, bound);
  if (const Tensor bias = parameter("bias"); bias.defined()) init::uniform_(bias, -bound, bound);
}

Tensor Bilinear::forward(const Tensor& input1, const Tensor& input2) {
  return bilinear(input1, input2, parameter("weight"), parameter("bias"));
}

Tree Bilinear::forward_with(const Arguments& arguments) {
  const auto items = arguments.bind("Bilinear.forward", {"input1", "input2"}, 2);
  return forward(items[0].as_tensor("input1"), items[1].as_tensor("input2"));
}

std::string Bilinear::extra_repr() const {
  return fmt::format("in1_features={}, in2_features={}, out_features={}, bias={}", options.in1_features,
                     options.in2_features, options.out_features, bool_text(parameter("bias").defined()));
}

Tree Identity::forward_with(const Arguments& arguments) {
  if (arguments.positional.empty()) return arguments.bind("Identity.forward", {"input"}, 1).front();
  return arguments.positional.front();
}

Tensor Flatten::forward(const Tensor& input) {
  on_use(*this);
  return flatten(input, options.start_dim, options.end_dim);
}
std::string Flatten::extra_repr() const {
  return fmt::format("start_dim={}, end_dim={}", options.start_dim, options.end_dim);
}
Tensor Unflatten::forward(const Tensor& input) {
  on_use(*this);
  return unflatten(input, options.dim, options.unflattened_size);
}
std::string Unflatten::extra_repr() const {
  return fmt::format("dim={}, unflattened_size={}", options.dim, tuple_text(options.unflattened_size));
}
}  // namespace lucid::nn
