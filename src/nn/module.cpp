// Parts, lifetime and version of a module.

#include <lucid/nn/module.h>

#include <algorithm>

#include "base/error.h"
#include "nn/bridge.h"
#include "nn/dependency.h"
#include "nn/hooks.h"
#include "tensor/api.h"

namespace lucid::nn {
namespace {

Bridge* installed_bridge = nullptr;

template <typename Part>
Part* find_in(std::vector<Part>& parts, std::string_view name) {
  for (Part& part : parts)
    if (part.name == name) return &part;
  return nullptr;
}

template <typename Part>
const Part& at(const std::vector<Part>& parts, const Module& module, const char* kind, std::string_view name) {
  for (const Part& part : parts)
    if (part.name == name) return part;
  throw ValueError("{} has no {} named '{}'", module.type_name(), kind, name);
}

/// Removes a part from its list. The caller destroys it after the list is consistent again, because its destructor may
/// run arbitrary code.
template <typename Part>
std::optional<Part> take(std::vector<Part>& parts, std::string_view name) {
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    if (part->name != name) continue;
    Part taken = std::move(*part);
    parts.erase(part);
    return taken;
  }
  return std::nullopt;
}

}  // namespace

Bridge* Bridge::get() { return installed_bridge; }
void Bridge::install(Bridge* bridge) { installed_bridge = bridge; }

TensorSlot::TensorSlot(const Tensor& tensor) : tensor_(tensor.impl()) {
  if (tensor_) tensor_->retain();
}

TensorSlot::~TensorSlot() {
  if (object_)
    Bridge::get()->release(object_);
  else if (tensor_)
    Ref<TensorImpl>::adopt(tensor_);
}

void TensorSlot::adopt_object(void* object) {
  LUCID_CHECK(tensor_ && !object_, "a slot was given an object twice");
  object_ = object;
  Ref<TensorImpl>::adopt(tensor_);
}

Module::~Module() {
  for (const NamedChild& child : children_)
    if (child.module) unlink(*child.module);
  for (const auto& entry : hooks_) entry->owner = nullptr;
}

void Module::retain() const {
  if (object_)
    Bridge::get()->retain(object_);
  else
    count_.fetch_add(1, std::memory_order_relaxed);
}

void Module::release() const {
  if (object_)
    Bridge::get()->release(object_);
  else if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1 && is_owned_)
    delete_iteratively();
}

void Module::delete_iteratively() const {
  static thread_local const Module* t_first = nullptr;
  static thread_local bool t_deleting = false;
  next_ = const_cast<Module*>(std::exchange(t_first, this));
  if (std::exchange(t_deleting, true)) return;
  while (const Module* module = t_first) {
    t_first = module->next_;
    delete module;
  }
  t_deleting = false;
}

void Module::set_object(void* object) {
  LUCID_CHECK(!object_, "a module was given an object twice");
  Bridge::get()->retain(object, count_.exchange(0));
  object_ = object;
}

void Module::changed(bool mode_only) {
  on_use(*this);
  // Visits each module above once, at any depth, even if a module contains itself.
  Module* last = this;
  being_changed_ = true;
  ++version_;
  mode_changes_ += mode_only;
  for (Module* module = this; module; module = module->next_) {
    for (Module* parent : module->parents_) {
      if (std::exchange(parent->being_changed_, true)) continue;
      ++parent->version_;
      parent->mode_changes_ += mode_only;
      last->next_ = parent;
      last = parent;
    }
  }
  for (Module* module = this; module; module = std::exchange(module->next_, nullptr)) module->being_changed_ = false;
}

void Module::unlink(Module& child) {
  const auto place = std::find(child.parents_.begin(), child.parents_.end(), this);
  if (place != child.parents_.end()) child.parents_.erase(place);
}

NamedSlot* Module::find_parameter(std::string_view name) {
  on_use(*this);
  return find_in(parameters_, name);
}
NamedSlot* Module::find_buffer(std::string_view name) {
  on_use(*this);
  return find_in(buffers_, name);
}
NamedChild* Module::find_child(std::string_view name) {
  on_use(*this);
  return find_in(children_, name);
}

Tensor Module::parameter(std::string_view name) const {
  on_use(*this);
  // A hook may replace a parameter by a buffer that it computes from other parameters (weight norm, pruning).
  for (const NamedSlot& named : parameters_)
    if (named.name == name) return named.slot.get();
  for (const NamedSlot& named : buffers_)
    if (named.name == name) return named.slot.get();
  return at(parameters_, *this, "parameter", name).slot.get();
}
Tensor Module::buffer(std::string_view name) const {
  on_use(*this);
  return at(buffers_, *this, "buffer", name).slot.get();
}

Module& Module::child(std::string_view name) const {
  on_use(*this);
  const Ptr<Module>& module = at(children_, *this, "module", name).module;
  if (!module) throw ValueError("{}: the submodule '{}' is None", type_name(), name);
  return *module;
}
size_t Module::child_count() const {
  on_use(*this);
  return children_.size();
}
Module& Module::child_at(size_t i) const {
  on_use(*this);
  if (i >= children_.size()) throw IndexError("{}: there is no module {} among {}", type_name(), i, children_.size());
  const NamedChild& child = children_[i];
  if (!child.module) throw ValueError("{}: the submodule '{}' is None", type_name(), child.name);
  return *child.module;
}

void nn_detail::throw_null() { throw RuntimeError("a module is called through an nn::Ptr that is null"); }

void Module::check_name(const std::string& kind, const std::string& name) const {
  if (name.empty()) throw ValueError("{}: the name of a {} cannot be empty", type_name(), kind);
  if (name.find('.') != std::string::npos)
    throw ValueError("{}: the name of a {} cannot contain a dot, got '{}'", type_name(), kind, name);
  auto* self = const_cast<Module*>(this);
  const char* taken = self->find_parameter(name) ? "parameter"
                      : self->find_buffer(name)  ? "buffer"
                      : self->find_child(name)   ? "module"
                                                 : nullptr;
  if (taken && kind != taken) throw ValueError("{}: '{}' is already the name of a {}", type_name(), name, taken);
}

Tensor Module::register_parameter(const std::string& name, const Tensor& tensor) {
  check_name("parameter", name);
  if (tensor.defined() && !tensor.is_leaf())
    throw ValueError("{}: '{}' cannot be a parameter, because it was computed from other tensors; detach() it",
                     type_name(), name);
  if (tensor.defined()) tensor.impl()->set_parameter();
  set_parameter(name, tensor);
  return tensor;
}

Tensor Module::register_buffer(const std::string& name, const Tensor& tensor, bool persistent) {
  check_name("buffer", name);
  set_buffer(name, tensor, persistent);
  return tensor;
}

void Module::add_module(const std::string& name, Ptr<Module> module) {
  check_name("module", name);
  set_child(name, std::move(module));
}

void Module::set_parameter(std::string_view name, const Tensor& tensor) {
  TensorSlot slot(tensor);
  if (NamedSlot* place = find_parameter(name)) {
    std::swap(place->slot, slot);
  } else {
    remove_part(name);
    parameters_.push_back({std::string(name), std::move(slot)});
  }
  changed();
}

void Module::set_buffer(std::string_view name, const Tensor& tensor, bool persistent) {
  TensorSlot slot(tensor);
  if (NamedSlot* place = find_buffer(name)) {
    std::swap(place->slot, slot);
    place->persistent = persistent;
  } else {
    remove_part(name);
    buffers_.push_back({std::string(name), std::move(slot), persistent});
  }
  changed();
}

void Module::set_child(std::string_view name, Ptr<Module> module) {
  if (module) link(*module);
  if (NamedChild* place = find_child(name)) {
    if (place->module) unlink(*place->module);
    std::swap(place->module, module);
  } else {
    remove_part(name);
    children_.push_back({std::string(name), std::move(module)});
  }
  changed();
}

bool Module::remove_part(std::string_view name) {
  const auto parameter = take(parameters_, name);
  const auto buffer = take(buffers_, name);
  const auto child = take(children_, name);
  if (child && child->module) unlink(*child->module);
  if (!parameter && !buffer && !child) return false;
  changed();
  return true;
}

void Module::clear_parts() {
  for (const NamedChild& child : children_)
    if (child.module) unlink(*child.module);
  for (const auto& entry : hooks_) entry->owner = nullptr;
  call_hooks_ = 0;
  const auto parameters = std::exchange(parameters_, {});
  const auto buffers = std::exchange(buffers_, {});
  const auto children = std::exchange(children_, {});
  const auto hooks = std::exchange(hooks_, {});
}

HookRemover Module::add_hook(std::shared_ptr<HookEntry> entry, bool prepend) {
  entry->owner = this;
  call_hooks_ += entry->is_call_hook() ? 1 : 0;
  const std::weak_ptr<HookEntry> weak = entry;
  hooks_.insert(prepend ? hooks_.begin() : hooks_.end(), std::move(entry));
  changed();
  return HookRemover(weak);
}

void Module::remove_hook(const HookEntry& entry) {
  const auto place =
      std::find_if(hooks_.begin(), hooks_.end(), [&](const auto& other) { return other.get() == &entry; });
  if (place == hooks_.end()) return;
  const std::shared_ptr<HookEntry> removed = *place;
  removed->owner = nullptr;
  call_hooks_ -= removed->is_call_hook() ? 1 : 0;
  hooks_.erase(place);
  changed();
}

void HookRemover::remove() {
  if (const auto entry = entry_.lock(); entry && entry->owner) entry->owner->remove_hook(*entry);
}

}  // namespace lucid::nn
