#include "nn/call_op.h"

#include "base/error.h"
#include "nn/settings.h"
#include "tensor/api.h"
#include "tensor/eager.h"
#include "tensor/random.h"

namespace lucid::nn {
namespace {

struct OpCall {
  const Op& op;
  SmallVector<Operand, 6> operands;
  Attributes attributes;

  OpCall(std::string_view name, const std::vector<Tensor>& tensors, const Settings& settings, size_t first)
      : op(op_table().at(name)), attributes(op.schema.default_attributes()) {
    size_t count = 0;
    for (const Parameter& parameter : op.schema.parameters) count += is_attribute(parameter.kind) ? 0 : 1;
    for (const Tensor& tensor : tensors) operands.push_back(tensor.defined() ? Operand(tensor.impl()) : Operand());
    while (operands.size() + first < count) operands.push_back(Operand());
    for (const auto& [attribute, item] : settings) set_attribute(op, attributes, attribute, item);
  }
};

}  // namespace

Attribute to_attribute(const Tree& tree) {
  if (tree.is_none()) return {};
  if (const auto* value = tree.get_if<bool>()) return *value;
  if (const auto* value = tree.get_if<int64_t>()) return *value;
  if (const auto* value = tree.get_if<double>()) return *value;
  if (const auto* value = tree.get_if<std::string>()) return *value;
  if (const auto* value = tree.get_if<Dtype>()) return *value;
  if (!tree.is_sequence()) throw TypeError("{} cannot be a setting", tree.kind());
  const Shape numbers = tree.as_shape("a setting");
  return Dims(numbers.begin(), numbers.end());
}

void set_attribute(const Op& op, Attributes& attributes, std::string_view name, const Tree& item) {
  const int place = op.schema.attribute_index(name);
  LUCID_CHECK(place >= 0, "{} has no attribute {}", op.name(), name);
  for (const Parameter& parameter : op.schema.parameters) {
    if (parameter.name != name) continue;
    const auto converted = convert_attribute(parameter, to_attribute(item));
    if (!converted) throw TypeError("{}: '{}' cannot be {}", op.name(), name, attribute_text(to_attribute(item)));
    attributes[static_cast<size_t>(place)] = *converted;
  }
}

std::vector<Tensor> call_ops(std::string_view op, const std::vector<Tensor>& tensors, const Settings& settings) {
  const OpCall call(op, tensors, settings, 0);
  return wrap(eager().emit(call.op, call.operands, call.attributes));
}

Tensor call_op(std::string_view op, const std::vector<Tensor>& tensors, const Settings& settings) {
  return call_ops(op, tensors, settings).front();
}

Tensor call_random_op(std::string_view op, const std::vector<Tensor>& tensors, const Settings& settings) {
  const OpCall call(op, tensors, settings, 1);
  return wrap(current_generator().sample(call.op, call.operands, call.attributes).front());
}

}  // namespace lucid::nn
