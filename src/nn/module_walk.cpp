// Traversals of the tree of modules.

#include <lucid/autograd.h>
#include <lucid/nn/module.h>
#include <lucid/ops.h>

#include <unordered_set>

#include "base/dtype.h"
#include "base/error.h"
#include "base/stack.h"
#include "nn/bridge.h"
#include "nn/dependency.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"

namespace lucid::nn {
namespace {

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

using NamedModules = std::vector<std::pair<std::string, Ptr<Module>>>;

// A module that contains itself ends the traversal even if duplicates are wanted.
void walk(Module& module, const std::string& prefix, bool once, std::unordered_set<const Module*>& seen,
          NamedModules& found) {
  check_stack("named_modules");
  if (!seen.insert(&module).second) return;
  found.emplace_back(prefix, Ptr<Module>(&module));
  for (const NamedChild& child : module.child_slots())
    if (child.module) walk(*child.module, joined(prefix, child.name), once, seen, found);
  if (!once) seen.erase(&module);
}

NamedTensors named_tensors(Module& module, const std::vector<NamedSlot>& (Module::*slots)() const,
                           const std::string& prefix, bool recurse, bool remove_duplicate) {
  NamedModules modules;
  if (recurse)
    modules = module.named_modules(prefix, remove_duplicate);
  else
    modules.emplace_back(prefix, Ptr<Module>(&module));
  NamedTensors found;
  std::unordered_set<const TensorImpl*> seen;
  for (const auto& [path, part] : modules)
    for (const NamedSlot& named : ((*part).*slots)())
      if (named.slot.impl() && (!remove_duplicate || seen.insert(named.slot.impl()).second))
        found.emplace_back(joined(path, named.name), named.slot.get());
  return found;
}

/// Marks a module while a traversal is below it.
class Walking {
 public:
  explicit Walking(bool& flag) : flag_(flag) { flag_ = true; }
  Walking(const Walking&) = delete;
  Walking& operator=(const Walking&) = delete;
  ~Walking() { flag_ = false; }

 private:
  bool& flag_;
};

/// Splits "a.b.c" into "a.b" and "c".
std::pair<std::string, std::string> split_path(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return {"", path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

}  // namespace

NamedModules Module::named_modules(const std::string& prefix, bool remove_duplicate) {
  on_use(*this);
  NamedModules found;
  std::unordered_set<const Module*> seen;
  walk(*this, prefix, remove_duplicate, seen, found);
  return found;
}

NamedModules Module::named_children() {
  on_use(*this);
  NamedModules found;
  std::unordered_set<const Module*> seen;
  for (const NamedChild& child : children_)
    if (child.module && seen.insert(child.module.get()).second) found.emplace_back(child.name, child.module);
  return found;
}

NamedTensors Module::named_parameters(const std::string& prefix, bool recurse, bool remove_duplicate) {
  on_use(*this);
  return named_tensors(*this, &Module::parameter_slots, prefix, recurse, remove_duplicate);
}

NamedTensors Module::named_buffers(const std::string& prefix, bool recurse, bool remove_duplicate) {
  on_use(*this);
  return named_tensors(*this, &Module::buffer_slots, prefix, recurse, remove_duplicate);
}

std::vector<Tensor> Module::parameters(bool recurse) {
  std::vector<Tensor> tensors;
  for (auto& [name, tensor] : named_parameters("", recurse)) tensors.push_back(std::move(tensor));
  return tensors;
}

std::vector<Tensor> Module::buffers(bool recurse) {
  std::vector<Tensor> tensors;
  for (auto& [name, tensor] : named_buffers("", recurse)) tensors.push_back(std::move(tensor));
  return tensors;
}

Ptr<Module> Module::get_submodule(const std::string& path) {
  Ptr<Module> module(this);
  for (size_t start = 0; start < path.size();) {
    size_t end = path.find('.', start);
    if (end == std::string::npos) end = path.size();
    const NamedChild* next = module->find_child(path.substr(start, end - start));
    if (!next || !next->module)
      throw ValueError("get_submodule: {} has no module '{}' (looking for '{}')", module->type_name(),
                       path.substr(start, end - start), path);
    module = next->module;
    start = end + 1;
  }
  return module;
}

Tensor Module::get_parameter(const std::string& path) const {
  const auto [parent, name] = split_path(path);
  return const_cast<Module*>(this)->get_submodule(parent)->parameter(name);
}

Tensor Module::get_buffer(const std::string& path) const {
  const auto [parent, name] = split_path(path);
  return const_cast<Module*>(this)->get_submodule(parent)->buffer(name);
}

void Module::apply(const std::function<void(Module&)>& function) {
  if (being_walked_) return;
  check_stack("apply");
  const Walking walking(being_walked_);
  for (const auto& [name, module] : named_children()) module->apply(function);
  function(*this);
}

bool Module::training() const {
  on_use(*this);
  return training_;
}

void Module::set_training(bool training) {
  on_use(*this);
  training_ = training;
  changed(/*mode_only=*/true);
}

void Module::train(bool mode) {
  if (being_walked_) return;
  check_stack("train");
  const Walking walking(being_walked_);
  set_training(mode);
  for (const auto& [name, module] : named_children()) {
    if (Bridge* bridge = Bridge::of(*module))
      bridge->train(*module, mode);
    else
      module->train(mode);
  }
}

void Module::requires_grad_(bool requires_grad) {
  for (Tensor& tensor : parameters()) tensor.requires_grad_(requires_grad);
  changed();
}

void Module::zero_grad(bool set_to_none) {
  for (Tensor& tensor : parameters()) {
    if (set_to_none) {
      tensor.set_grad(Tensor());
      continue;
    }
    const Tensor gradient = tensor.grad();
    if (!gradient.defined()) continue;
    if (gradient.requires_grad())
      tensor.set_grad(zeros_like(gradient.detach()));
    else
      gradient.detach().zero_();
  }
}

void Module::transform(const std::function<Tensor(const Tensor&)>& function) {
  const NoGrad no_grad;
  std::unordered_set<const TensorImpl*> seen;
  for (const auto& [path, module] : named_modules()) {
    for (const NamedSlot& named : module->parameter_slots()) {
      if (!named.slot.impl() || !seen.insert(named.slot.impl()).second) continue;
      const Tensor tensor = named.slot.get();
      const Tensor gradient = tensor.grad();
      if (gradient.defined()) Tensor(tensor).set_grad(Tensor());
      set_data(*tensor.impl(), unwrap(function(tensor.detach())));
      if (gradient.defined()) Tensor(tensor).set_grad(function(gradient.detach()));
    }
    std::vector<std::pair<std::string, bool>> buffers;
    for (const NamedSlot& named : module->buffer_slots())
      if (named.slot.impl()) buffers.emplace_back(named.name, named.persistent);
    for (const auto& [name, persistent] : buffers) {
      const Tensor before = module->buffer(name);
      const Tensor after = function(before);
      if (!after.is_same(before)) module->set_buffer(name, after, persistent);
    }
    module->changed();
  }
}

void Module::to(Dtype dtype) {
  if (!is_float(dtype)) throw TypeError("to: expected a floating-point dtype, got {}", name_of(dtype));
  transform([dtype](const Tensor& tensor) { return is_float(tensor.dtype()) ? lucid::to(tensor, dtype) : tensor; });
}

void Module::to(const std::string& device) {
  transform([&](const Tensor& tensor) { return tensor.to(device); });
}

}  // namespace lucid::nn
