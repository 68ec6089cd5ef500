#include <lucid/nn/op_module.h>

#include <algorithm>

#include "base/error.h"
#include "nn/call_op.h"
#include "nn/dependency.h"
#include "nn/repr.h"
#include "nn/settings.h"
#include "tensor/api.h"

namespace lucid::nn {

std::string tree_text(const Tree& tree) {
  if (tree.is_none()) return "None";
  if (const auto* text = tree.get_if<std::string>()) return "'" + *text + "'";
  if (const auto* items = tree.items_or_null()) {
    std::vector<std::string> parts;
    for (const Tree& part : *items) parts.push_back(tree_text(part));
    return fmt::format("({}{})", fmt::join(parts, ", "), parts.size() == 1 ? "," : "");
  }
  if (const auto* flag = tree.get_if<bool>()) return bool_text(*flag);
  if (const auto* number = tree.get_if<int64_t>()) return std::to_string(*number);
  return number_text(tree.as_real());
}

void OpModule::fields(Fields& visit) {
  for (auto& [name, item] : settings_) visit(name.c_str(), item);
}

void OpModule::build(std::optional<Dtype>) {
  const Op& op = op_table().at(op_name());
  Attributes attributes = op.schema.default_attributes();
  for (const auto& [name, item] : settings_)
    if (op.schema.attribute_index(name) >= 0) set_attribute(op, attributes, name, item);
}

const Tree& OpModule::setting(std::string_view name) const {
  on_use(*this);
  for (const auto& [own, item] : settings_)
    if (own == name) return item;
  throw InternalError("{} has no setting '{}'", type_name(), name);
}

std::vector<Tensor> OpModule::apply(const std::string& name, const std::vector<Tensor>& inputs) const {
  on_use(*this);
  const Op& op = op_table().at(name);
  auto* self = const_cast<OpModule*>(this);
  std::vector<Tensor> tensors = inputs;
  size_t place = 0;
  for (const Parameter& parameter : op.schema.parameters) {
    if (is_attribute(parameter.kind) || place++ < inputs.size()) continue;
    const NamedSlot* slot = self->find_parameter(parameter.name);
    if (!slot) slot = self->find_buffer(parameter.name);
    tensors.push_back(slot ? slot->slot.get() : Tensor());
  }
  Settings settings;
  for (const auto& [own, item] : settings_)
    if (op.schema.attribute_index(own) >= 0) settings.emplace_back(own, item);
  return call_ops(name, tensors, settings);
}

Tensor OpModule::forward(const Tensor& input) {
  if (inputs().size() != 1) throw TypeError("{}.forward: argument '{}' is missing", type_name(), inputs()[1]);
  return apply(op_name(), {input}).front();
}

Tree OpModule::forward_with(const Arguments& arguments) {
  const std::vector<std::string> names = inputs();
  std::vector<Tensor> tensors;
  for (const Tree& item : arguments.bind(type_name() + ".forward", names, names.size())) {
    if (!item.is_tensor()) fail_argument(*this, names[tensors.size()], item);
    tensors.push_back(item.as_tensor());
  }
  return apply(op_name(), tensors).front();
}

std::string OpModule::extra_repr() const {
  std::string text;
  if (!shows_settings()) return text;
  for (const auto& [name, item] : settings_) {
    if (!text.empty()) text += ", ";
    text += name + "=" + tree_text(item);
  }
  return text;
}

}  // namespace lucid::nn
