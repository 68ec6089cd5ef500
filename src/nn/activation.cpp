#include <lucid/nn/activation.h>
#include <lucid/nn/init.h>
#include <lucid/ops.h>

#include "base/error.h"
#include "nn/call_op.h"
#include "nn/dependency.h"
#include "nn/parameters.h"
#include "nn/repr.h"
#include "nn/settings.h"
#include "tensor/api.h"
#include "tensor/eager.h"
#include "tensor/inplace.h"

namespace lucid::nn {

Tensor Activation::forward(const Tensor& input) {
  on_use(*this);
  if (!op_) op_ = &op_table().at(op_name());
  const Op& op = *op_;
  Attributes attributes;
  for (const Tree& item : this->attributes()) attributes.push_back(to_attribute(item));
  if (is_inplace()) {
    in_place(op, unwrap(input), {}, attributes);
    return input;
  }
  const Operand operands[] = {Operand(&unwrap(input))};
  return wrap(eager().emit_one(op, operands, attributes));
}

std::string Activation::extra_repr() const {
  std::string text;
  for (const auto& [name, item] : Fields::list(const_cast<Activation&>(*this))) {
    if (name == "inplace" && !item.as_bool()) continue;
    if (!text.empty()) text += ", ";
    if (name == "inplace")
      text += "inplace=True";
    else
      text += (name == "lambd" ? "" : name + "=") + tree_text(item);
  }
  return text;
}

void PReLU::build(std::optional<Dtype> dtype) {
  add_parameter(*this, "weight", {options.num_parameters}, dtype);
  reset_parameters();
}
void PReLU::reset_parameters() { nn::init::constant_(parameter("weight"), options.init); }
Tensor PReLU::forward(const Tensor& input) { return prelu(input, parameter("weight")); }
std::string PReLU::extra_repr() const { return fmt::format("num_parameters={}", options.num_parameters); }

Tensor RReLU::forward(const Tensor& input) {
  const Tensor result =
      training() ? call_random_op("random_rrelu", {input}, {{"lower", options.lower}, {"upper", options.upper}})
                 : rrelu(input, options.lower, options.upper);
  return options.inplace ? Tensor(input).copy_(result) : result;
}
std::string RReLU::extra_repr() const {
  return fmt::format("lower={}, upper={}{}", number_text(options.lower), number_text(options.upper),
                     options.inplace ? ", inplace=True" : "");
}

Tensor GLU::forward(const Tensor& input) {
  on_use(*this);
  return glu(input, options.dim);
}
std::string GLU::extra_repr() const { return fmt::format("dim={}", options.dim); }

Tensor Softmax::forward(const Tensor& input) {
  on_use(*this);
  return softmax(input, options.dim);
}
std::string Softmax::extra_repr() const { return fmt::format("dim={}", options.dim); }
Tensor LogSoftmax::forward(const Tensor& input) {
  on_use(*this);
  return log_softmax(input, options.dim);
}
std::string LogSoftmax::extra_repr() const { return fmt::format("dim={}", options.dim); }
Tensor Softmin::forward(const Tensor& input) {
  on_use(*this);
  return softmin(input, options.dim);
}
std::string Softmin::extra_repr() const { return fmt::format("dim={}", options.dim); }

Tensor Softmax2d::forward(const Tensor& input) {
  if (input.dim() != 3 && input.dim() != 4)
    throw ValueError("Softmax2d: expected 3 or 4 dimensions, got {}", to_string(unwrap(input).type()));
  return softmax(input, -3);
}

}  // namespace lucid::nn
