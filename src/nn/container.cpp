#include <lucid/nn/container.h>

#include "base/error.h"
#include "nn/dependency.h"
#include "tensor/api.h"

namespace lucid::nn {
namespace {

std::string parameter_lines(const Module& module) {
  std::string text;
  for (const NamedSlot& named : module.parameter_slots()) {
    if (!text.empty()) text += "\n";
    const Tensor tensor = named.slot.get();
    text += fmt::format("({}): ", named.name);
    text += tensor.defined() ? fmt::format("Parameter {}", to_string(unwrap(tensor).type())) : "None";
  }
  return text;
}

}  // namespace

Sequential& Sequential::append(Ptr<Module> module) {
  add_module(std::to_string(size()), std::move(module));
  return *this;
}

Tensor Sequential::forward(const Tensor& input) {
  on_use(*this);
  Tensor result = input;
  for (size_t i = 0; i < size(); ++i) {
    const Ptr<Module> module = &child_at(i);
    result = module(result);
  }
  return result;
}

Tree Sequential::forward_with(const Arguments& arguments) {
  on_use(*this);
  Tree result = arguments.bind("Sequential.forward", {"input"}, 1).front();
  for (size_t i = 0; i < size(); ++i) {
    const Ptr<Module> module = &child_at(i);
    result = result.is_tensor() ? module->call(result.as_tensor()) : module->call(Arguments({result}));
  }
  return result;
}

ModuleList& ModuleList::append(Ptr<Module> module) {
  add_module(std::to_string(size()), std::move(module));
  return *this;
}

std::string ParameterList::extra_repr() const { return parameter_lines(*this); }
std::string ParameterDict::extra_repr() const { return parameter_lines(*this); }

}  // namespace lucid::nn
