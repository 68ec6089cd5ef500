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

  OpCall(std::string_view name, const std::vector<Tensor>& tensors, const OpSettings& settings, size_t first)
      : op(op_table().at(name)), attributes(op.schema.default_attributes()) {
    size_t count = 0;
    for (const Parameter& parameter : op.schema.parameters) count += is_attribute(parameter.kind) ? 0 : 1;
    for (const Tensor& tensor : tensors) operands.push_back(tensor.defined() ? Operand(tensor.impl()) : Operand());
    while (operands.size() + first < count) operands.push_back(Operand());
    for (const auto& [attribute, item] : settings) set_attribute(op, attributes, attribute, item);
  }
};

}  // namespace

Attribute to_attribute(const Item& item) {
  struct Converter {
    Attribute operator()(std::monostate) const { return {}; }
    Attribute operator()(bool value) const { return value; }
    Attribute operator()(int64_t value) const { return value; }
    Attribute operator()(double value) const { return value; }
    Attribute operator()(const std::string& value) const { return value; }
    Attribute operator()(Dtype value) const { return value; }
    Attribute operator()(const Tensor&) const { throw TypeError("a tensor cannot be a setting"); }
    Attribute operator()(const Item::Tuple& items) const {
      Dims dims;
      for (const Item& part : items) dims.push_back(part.to_int());
      return dims;
    }
    Attribute operator()(const std::shared_ptr<const Foreign>& value) const {
      const Item native = value->convert();
      if (native.foreign()) throw TypeError("this object cannot be a setting");
      return to_attribute(native);
    }
  };
  return std::visit(Converter(), item.value());
}

void set_attribute(const Op& op, Attributes& attributes, std::string_view name, const Item& item) {
  const int place = op.schema.attribute_index(name);
  LUCID_CHECK(place >= 0, "{} has no attribute {}", op.name(), name);
  for (const Parameter& parameter : op.schema.parameters) {
    if (parameter.name != name) continue;
    const auto converted = convert_attribute(parameter, to_attribute(item));
    if (!converted) throw TypeError("{}: '{}' cannot be {}", op.name(), name, attribute_text(to_attribute(item)));
    attributes[static_cast<size_t>(place)] = *converted;
  }
}

std::vector<Tensor> call_ops(std::string_view op, const std::vector<Tensor>& tensors, const OpSettings& settings) {
  const OpCall call(op, tensors, settings, 0);
  return wrap(eager().emit(call.op, call.operands, call.attributes));
}

Tensor call_op(std::string_view op, const std::vector<Tensor>& tensors, const OpSettings& settings) {
  return call_ops(op, tensors, settings).front();
}

Tensor call_random_op(std::string_view op, const std::vector<Tensor>& tensors, const OpSettings& settings) {
  const OpCall call(op, tensors, settings, 1);
  return wrap(current_generator().sample(call.op, call.operands, call.attributes).front());
}

}  // namespace lucid::nn
