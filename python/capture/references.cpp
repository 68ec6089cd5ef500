// The references that guards own, and whether guards can hold again.

#include "capture/references.h"

#include <algorithm>

#include "capture/guards.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

using Role = ReferenceVisitor::Role;

template <typename Guard>
void visit_guard(const Guard& guard, ReferenceVisitor& visitor) {
  const_cast<Guard&>(guard).each([&](PyObject* object) { visitor.object(object); });
}

void visit_items(PyObject* tuple, ReferenceVisitor& visitor) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) visitor.object(PyTuple_GET_ITEM(tuple, i));
}

// The guard alone owns `expected`, so the references in it are the guard's.
void visit_guard(const DictGuard& guard, ReferenceVisitor& visitor) {
  visitor.object(guard.dict, guard.style == DictGuard::Style::kGlobal ? Role::kOther : Role::kCompared);
  visitor.object(guard.names, Role::kOther);
  if (!guard.names) return visit_items(guard.expected, visitor);
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(guard.expected, &at, &key, &value);) {
    visitor.object(key, Role::kOther);
    visitor.object(value);
  }
}

void visit_guard(const SequenceGuard& guard, ReferenceVisitor& visitor) {
  visitor.object(guard.holder);
  visit_items(guard.expected, visitor);
}

void visit_guard(const InstanceGuard& guard, ReferenceVisitor& visitor) {
  visitor.object(guard.object);
  visitor.object(guard.type);
  // The functions of a Python module refer to its dict, and the dict to all of them.
  visitor.object(guard.dict, PyModule_Check(guard.object) ? Role::kOther : Role::kCompared);
}

void visit_guard(const ModuleGuard& guard, ReferenceVisitor& visitor) {
  visitor.object(guard.type);
  visitor.object(guard.attributes);
  for (const auto* parts : {&guard.parameters, &guard.buffers})
    for (const ModuleGuard::Part& part : *parts) visitor.tensor(part.tensor.get());
}

void visit_tree(const Tree& tree, ReferenceVisitor& visitor) {
  if (const auto* tensor = tree.get_if<Tensor>()) visitor.tensor(tensor->impl());
}

void visit_guard(const OptimizerGuard& guard, ReferenceVisitor& visitor) {
  for (const OptimizerGuard::Group& group : guard.groups) {
    for (const TensorRef& param : group.params) visitor.tensor(param.get());
    for (const OptimizerGuard::Option& option : group.options) {
      for (const TensorRef& cell : option.cells) visitor.tensor(cell.get());
      visit_tree(option.value, visitor);
    }
  }
  for (const OptimizerGuard::State& state : guard.states) {
    if (!state.state) continue;
    visitor.shared(state.state.get(), static_cast<size_t>(state.state.use_count()));
    for (const auto& [name, value] : state.entries) visit_tree(value, visitor);
  }
}

void visit_shape(const ArgumentShape& shape, ReferenceVisitor& visitor) {
  visitor.object(shape.value.ptr(), shape.is_weak ? Role::kOther : Role::kCompared);
  visitor.object(shape.type.ptr());
  for (const nb::object* held : {&shape.names, &shape.keys, &shape.members}) visitor.object(held->ptr(), Role::kOther);
  for (const ArgumentShape& part : shape.parts) visit_shape(part, visitor);
}

template <typename Guard>
bool is_obsolete_guard(const Guard&) {
  return false;
}
bool is_obsolete_guard(const ModuleGuard& guard) { return PyWeakref_GET_OBJECT(guard.reference) == Py_None; }
bool is_obsolete_guard(const OptimizerGuard& guard) { return PyWeakref_GET_OBJECT(guard.reference) == Py_None; }
// Versions only grow.
bool is_obsolete_guard(const GlobalHooksGuard& guard) { return !guard.holds(); }

bool is_obsolete_shape(const ArgumentShape& shape) {
  return (shape.is_weak && PyWeakref_GET_OBJECT(shape.value.ptr()) == Py_None) ||
         std::any_of(shape.parts.begin(), shape.parts.end(), is_obsolete_shape);
}

}  // namespace

void ArgumentGuards::visit_references(ReferenceVisitor& visitor) const {
  for (const Guard& guard : guards_) visit_shape(guard.shape, visitor);
}

bool ArgumentGuards::is_obsolete() const {
  return std::any_of(guards_.begin(), guards_.end(), [](const Guard& guard) { return is_obsolete_shape(guard.shape); });
}

void GuardSet::visit_references(ReferenceVisitor& visitor) const {
  const auto visit_kind = [&](const auto& kind) {
    for (const auto& guard : kind) visit_guard(guard, visitor);
  };
  std::apply([&](const auto&... kinds) { (visit_kind(kinds), ...); }, guards_);
  arguments_.visit_references(visitor);
  stores_.each([&](const Location& location) {
    // Other guards compare dicts and lists.
    const bool is_compared = location.kind == Location::Kind::kEntry || location.kind == Location::Kind::kItem;
    visitor.object(location.holder, is_compared ? Role::kOther : Role::kCompared);
    visitor.object(location.key, Role::kOther);
  });
  for (PyObject* object : remembered_) visitor.object(object, Role::kOther);
}

bool GuardSet::is_obsolete() const {
  if (cleared_ || arguments_.is_obsolete()) return true;
  const auto any_obsolete = [](const auto& kind) {
    return std::any_of(kind.begin(), kind.end(), [](const auto& guard) { return is_obsolete_guard(guard); });
  };
  return std::apply([&](const auto&... kinds) { return (any_obsolete(kinds) || ...); }, guards_);
}

bool GuardSet::holds_state() const {
  const IdentityScope scope(compares_identity_);
  return !cleared_ &&
         std::apply(
             [](const auto&... kinds) {
               return (std::all_of(kinds.begin(), kinds.end(), [](const auto& guard) { return guard.holds(); }) && ...);
             },
             guards_);
}

}  // namespace lucid::python
