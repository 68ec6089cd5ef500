// Saving, loading and copying modules.

#include <lucid/autograd.h>
#include <lucid/nn/fields.h>
#include <lucid/ops.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/stack.h"
#include "nn/bridge.h"
#include "nn/dependency.h"
#include "nn/hooks.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"

namespace lucid::nn {
namespace {

constexpr const char* kExtraState = "_extra_state";

/// A state dict in C++: tensors by name.
class TensorState : public StateDict {
 public:
  explicit TensorState(NamedTensors tensors = {}) : tensors_(std::move(tensors)) {
    for (size_t i = 0; i < tensors_.size(); ++i) places_[tensors_[i].first] = i;
  }
  void set(const std::string& key, Tree value) override {
    const auto [place, added] = places_.emplace(key, tensors_.size());
    if (added)
      tensors_.emplace_back(key, value.as_tensor());
    else
      tensors_[place->second].second = value.as_tensor();
  }
  bool has(const std::string& key) const override { return places_.contains(key); }
  Tree get(const std::string& key) const override { return tensors_[places_.at(key)].second; }
  std::vector<std::string> keys() const override {
    std::vector<std::string> keys;
    for (const auto& [key, tensor] : tensors_) keys.push_back(key);
    return keys;
  }
  NamedTensors take() { return std::move(tensors_); }

 private:
  NamedTensors tensors_;
  std::unordered_map<std::string, size_t> places_;
};

std::string quoted(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "\"" : ", \"") + key + "\"";
  return text;
}

std::string shape_text(const Tensor& tensor) { return to_string(DimsView(unwrap(tensor).sizes())); }

}  // namespace

struct Module::Path {
  const char* function;
  std::unordered_set<const Module*> modules = {};

  class Inside {
   public:
    Inside(Path& path, const Module& module, const std::string& prefix) : path_(path), module_(module) {
      check_stack(path.function);
      if (!path.modules.insert(&module).second)
        throw RecursionError("{}: the module at '{}' contains itself, so its names have no end", path.function,
                             prefix.substr(0, prefix.rfind('.')));
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { path_.modules.erase(&module_); }

   private:
    Path& path_;
    const Module& module_;
  };
};

void Bridge::save_own_state(Module& module, StateDict& state, const std::string& prefix, bool keep_vars) {
  for (const auto* slots : {&module.parameter_slots(), &module.buffer_slots()})
    for (const NamedSlot& named : *slots) {
      if (!named.slot.impl() || !named.persistent) continue;
      const Tensor tensor = named.slot.get();
      state.set(prefix + named.name, keep_vars ? tensor : tensor.detach());
    }
}

void Module::save_state(StateDict& state, const std::string& prefix, bool keep_vars) {
  on_use(*this);
  Path path{"state_dict"};
  save_tree(state, prefix, keep_vars, path);
}

void Module::save_tree(StateDict& state, const std::string& prefix, bool keep_vars, Path& path) {
  const Path::Inside inside(path, *this, prefix);
  for (const auto& entry : hooks_of<StateDictPreHook>(*this))
    std::get<StateDictPreHook>(entry->function)(*this, prefix, keep_vars);
  Bridge* bridge = Bridge::of(*this);
  if (!bridge || !bridge->save_own(*this, state, prefix, keep_vars))
    Bridge::save_own_state(*this, state, prefix, keep_vars);
  if (bridge)
    if (const auto extra = bridge->extra_state(*this)) state.set(prefix + kExtraState, *extra);
  for (const NamedChild& child : std::vector<NamedChild>(children_))
    if (child.module) child.module->save_tree(state, prefix + child.name + ".", keep_vars, path);
  for (const auto& entry : hooks_of<StateDictHook>(*this))
    std::get<StateDictHook>(entry->function)(*this, state, prefix);
}

NamedTensors Module::state_dict(const std::string& prefix, bool keep_vars) {
  TensorState state;
  save_state(state, prefix, keep_vars);
  return state.take();
}

void Module::load_own(StateDict& state, const std::string& prefix, bool assign, LoadResult& result,
                      std::vector<std::string>& errors) {
  const NoGrad no_grad;
  for (const bool learned : {true, false}) {
    std::vector<std::string> names;
    for (const NamedSlot& named : learned ? parameters_ : buffers_)
      if (named.slot.impl() && named.persistent) names.push_back(named.name);
    for (const std::string& name : names) {
      const std::string key = prefix + name;
      if (!state.has(key)) {
        result.missing_keys.push_back(key);
        continue;
      }
      const Tree item = state.get(key);
      if (!item.is_tensor()) {
        errors.push_back(fmt::format("\"{}\": expected a tensor, not {}", key, item.kind()));
        continue;
      }
      const Tensor source = item.as_tensor();
      Tensor target = learned ? parameter(name) : buffer(name);
      if (source.shape() != target.shape()) {
        errors.push_back(fmt::format("size mismatch for {}: the state has shape {}, the model has {}", key,
                                     shape_text(source), shape_text(target)));
        continue;
      }
      if (!assign)
        target.detach().copy_(source.detach());
      else if (learned)
        set_data(unwrap(target), unwrap(source.detach()));
      else
        set_buffer(name, source, true);
    }
  }
  const std::string extra = prefix + kExtraState;
  Bridge* bridge = Bridge::of(*this);
  if (!bridge || !bridge->wants_extra_state(*this)) return;
  if (state.has(extra))
    bridge->set_extra_state(*this, state.get(extra));
  else
    result.missing_keys.push_back(extra);
}

void Module::load_tree(StateDict& state, const std::string& prefix, bool assign, LoadResult& result,
                       std::vector<std::string>& errors, Path& path) {
  const Path::Inside inside(path, *this, prefix);
  for (const auto& entry : hooks_of<LoadStateDictPreHook>(*this))
    std::get<LoadStateDictPreHook>(entry->function)(*this, state, prefix, result);
  Bridge* bridge = Bridge::of(*this);
  if (!bridge || !bridge->load_own(*this, state, prefix, result, errors))
    load_own(state, prefix, assign, result, errors);
  for (const NamedChild& child : std::vector<NamedChild>(children_))
    if (child.module) child.module->load_tree(state, prefix + child.name + ".", assign, result, errors, path);
  for (const auto& entry : hooks_of<LoadStateDictPostHook>(*this))
    std::get<LoadStateDictPostHook>(entry->function)(*this, result);
  changed();
}

LoadResult Module::load_state(StateDict& state, bool strict, bool assign) {
  LoadResult result;
  std::vector<std::string> errors;
  Path walked{"load_state_dict"};
  load_tree(state, "", assign, result, errors, walked);
  std::unordered_set<std::string> expected;
  for (const auto& [path, module] : named_modules("", false)) {
    const std::string prefix = path.empty() ? "" : path + ".";
    for (const auto* slots : {&module->parameter_slots(), &module->buffer_slots()})
      for (const NamedSlot& named : *slots)
        if (named.slot.impl() && named.persistent) expected.insert(prefix + named.name);
    if (Bridge* bridge = Bridge::of(*module); bridge && bridge->wants_extra_state(*module))
      expected.insert(prefix + kExtraState);
  }
  for (const std::string& key : state.keys())
    if (!expected.contains(key)) result.unexpected_keys.push_back(key);
  if (strict && !result.unexpected_keys.empty())
    errors.insert(errors.begin(), "unexpected keys in the state: " + quoted(result.unexpected_keys));
  if (strict && !result.missing_keys.empty())
    errors.insert(errors.begin(), "missing keys in the state: " + quoted(result.missing_keys));
  if (!errors.empty()) {
    std::string text;
    for (const std::string& error : errors) text += "\n\t" + error;
    Bridge* bridge = Bridge::of(*this);
    throw RuntimeError("load_state_dict: the state does not fit {}:{}", bridge ? bridge->type_name(*this) : type_name(),
                       text);
  }
  return result;
}

LoadResult Module::load_state_dict(const NamedTensors& state, bool strict, bool assign) {
  TensorState tensors(state);
  return load_state(tensors, strict, assign);
}

Ptr<Module> Module::blank() const {
  throw NotImplementedError("clone: {} cannot be copied; override blank()", type_name());
}

namespace {

/// The copies made so far, so that shared modules and tensors stay shared.
struct Copies {
  std::unordered_map<const Module*, Ptr<Module>> modules;
  std::unordered_map<const TensorImpl*, Tensor> tensors;

  Tensor copy(const Tensor& tensor) {
    if (!tensor.defined()) return {};
    auto& made = tensors[tensor.impl()];
    if (!made.defined()) {
      const NoGrad no_grad;
      made = lucid::clone(tensor);
      made.requires_grad_(tensor.requires_grad());
      if (tensor.grad().defined()) made.set_grad(lucid::clone(tensor.grad()));
    }
    return made;
  }

  Ptr<Module> copy(Module& module) {
    check_stack("clone");
    if (const auto found = modules.find(&module); found != modules.end()) return found->second;
    if (Bridge* bridge = Bridge::of(module)) return modules[&module] = bridge->clone(module);
    Ptr<Module> made = module.blank();
    modules[&module] = made;
    for (const auto& [name, item] : Fields::list(module)) Fields::set(*made, name, item);
    made->set_training(module.training());
    for (const NamedSlot& named : module.parameter_slots())
      made->register_parameter(named.name, copy(named.slot.get()));
    for (const NamedSlot& named : module.buffer_slots())
      made->set_buffer(named.name, copy(named.slot.get()), named.persistent);
    for (const NamedChild& child : module.child_slots())
      made->set_child(child.name, child.module ? copy(*child.module) : nullptr);
    for (const auto& entry : module.hooks()) made->add_hook(std::make_shared<HookEntry>(*entry), false);
    return made;
  }
};

}  // namespace

Ptr<Module> Module::clone() {
  on_use(*this);
  Copies copies;
  return copies.copy(*this);
}

}  // namespace lucid::nn
