#include <lucid/nn/activation.h>
#include <lucid/nn/init.h>
#include <lucid/ops.h>

#include "base/error.h"
#include "nn/call_op.h"
#include "nn/parameters.h"
#include "nn/repr.h"
#include "tensor/api.h"
#include "tensor/eager.h"
#include "tensor/inplace.h"

namespace lucid::nn {
namespace {

Attributes to_attributes(const std::vector<Item>& items) {
  Attributes attributes;
  for (const Item& item : items) {
    if (item.is_string())
      attributes.push_back(item.to_string());
    else
      attributes.push_back(item.to_double());
  }
  return attributes;
}

std::string setting_text(const Item& item) {
  return item.is_string() ? "'" + item.to_string() + "'" : number_text(item.to_double());
}

}  // namespace

Tensor Activation::forward(const Tensor& input) {
  if (!op_) op_ = &op_table().at(op_name());
  const Op& op = *op_;
  const Attributes attributes = to_attributes(settings());
  if (inplace) {
    in_place(op, unwrap(input), {}, attributes);
    return input;
  }
  const Operand operands[] = {Operand(&unwrap(input))};
  return wrap(eager().emit_one(op, operands, attributes));
}

void Activation::fields(Fields& visit) { visit("inplace", inplace); }

std::string Activation::extra_repr() const {
  std::string text;
  for (const auto& [name, item] : Fields::list(const_cast<Activation&>(*this))) {
    if (name == "inplace" && !inplace) continue;
    if (!text.empty()) text += ", ";
    if (name == "inplace")
      text += "inplace=True";
    else
      text += (name == "lambd" ? "" : name + "=") + setting_text(item);
  }
  return text;
}

void GELU::fields(Fields& visit) { visit("approximate", approximate); }
void Hardtanh::fields(Fields& visit) {
  visit("min_val", min_val);
  visit("max_val", max_val);
  Activation::fields(visit);
}
void Softplus::fields(Fields& visit) {
  visit("beta", beta);
  visit("threshold", threshold);
}
void Threshold::fields(Fields& visit) {
  visit("threshold", threshold);
  visit("value", value);
  Activation::fields(visit);
}

PReLU::PReLU(int64_t num_parameters, double init, std::optional<Dtype> dtype)
    : num_parameters(num_parameters), init(init) {
  build(dtype);
}
void PReLU::fields(Fields& visit) {
  visit("num_parameters", num_parameters);
  visit("init", init);
}
void PReLU::build(std::optional<Dtype> dtype) {
  add_parameter(*this, "weight", {num_parameters}, dtype);
  reset_parameters();
}
void PReLU::reset_parameters() { nn::init::constant_(parameter("weight"), init); }
Tensor PReLU::forward(const Tensor& input) { return prelu(input, parameter("weight")); }
std::string PReLU::extra_repr() const { return fmt::format("num_parameters={}", num_parameters); }

void RReLU::fields(Fields& visit) {
  visit("lower", lower);
  visit("upper", upper);
  visit("inplace", inplace);
}
Tensor RReLU::forward(const Tensor& input) {
  const Tensor result = training() ? call_random_op("random_rrelu", {input}, {{"lower", lower}, {"upper", upper}})
                                   : rrelu(input, lower, upper);
  return inplace ? Tensor(input).copy_(result) : result;
}
std::string RReLU::extra_repr() const {
  return fmt::format("lower={}, upper={}{}", number_text(lower), number_text(upper), inplace ? ", inplace=True" : "");
}

void GLU::fields(Fields& visit) { visit("dim", dim); }
Tensor GLU::forward(const Tensor& input) { return glu(input, dim); }
std::string GLU::extra_repr() const { return fmt::format("dim={}", dim); }

void Softmax::fields(Fields& visit) { visit("dim", dim); }
Tensor Softmax::forward(const Tensor& input) { return softmax(input, dim); }
std::string Softmax::extra_repr() const { return fmt::format("dim={}", dim); }
void LogSoftmax::fields(Fields& visit) { visit("dim", dim); }
Tensor LogSoftmax::forward(const Tensor& input) { return log_softmax(input, dim); }
std::string LogSoftmax::extra_repr() const { return fmt::format("dim={}", dim); }
void Softmin::fields(Fields& visit) { visit("dim", dim); }
Tensor Softmin::forward(const Tensor& input) { return softmin(input, dim); }
std::string Softmin::extra_repr() const { return fmt::format("dim={}", dim); }

Tensor Softmax2d::forward(const Tensor& input) {
  if (input.dim() != 3 && input.dim() != 4)
    throw ValueError("Softmax2d: expected 3 or 4 dimensions, got {}", to_string(unwrap(input).type()));
  return softmax(input, -3);
}

}  // namespace lucid::nn
