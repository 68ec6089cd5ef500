#include "capture/reachability.h"

#include <algorithm>

#include "bindings/compiled_callable.h"
#include "bindings/tensor_object.h"
#include "capture/guards.h"

namespace lucid::python {
namespace {

using Role = ReferenceVisitor::Role;

/// How many objects are looked into.
constexpr size_t kMaxObjects = 20'000;
/// Classes with more references than this are not looked into.
constexpr Py_ssize_t kMaxClassReferences = 64;
/// How deeply tuples and similar values are looked into.
constexpr int kMaxDepth = 32;

using Found = std::function<void(PyObject*)>;

int report(PyObject* object, void* found) {
  (*static_cast<const Found*>(found))(object);
  return 0;
}

/// Calls `found` with the objects that an object refers to. Those that almost everything is reachable from are left
/// out.
void for_each_reference(PyObject* object, const Found& found) {
  if (PyFunction_Check(object)) {
    const auto* function = reinterpret_cast<PyFunctionObject*>(object);
    for (PyObject* part :
         {function->func_defaults, function->func_kwdefaults, function->func_closure, function->func_dict})
      if (part) found(part);
    return;
  }
  Py_TYPE(object)->tp_traverse(object, report, const_cast<Found*>(&found));
}

/// The Python object of a tensor, or null. Borrowed.
PyObject* object_of(const TensorImpl& tensor) {
  auto* object = static_cast<PyObject*>(tensor.python_object);
  return object && Py_REFCNT(object) > 0 ? object : nullptr;
}

/// Calls a function with the parts of a value that is compared by its parts; returns false for any other value.
template <typename Function>
bool for_each_part(PyObject* value, const Function& function) {
  if (PyTuple_CheckExact(value)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) function(PyTuple_GET_ITEM(value, i));
  } else if (PyMethod_Check(value)) {
    function(PyMethod_GET_SELF(value));
    function(PyMethod_GET_FUNCTION(value));
  } else if (PySlice_Check(value)) {
    const auto* slice = reinterpret_cast<PySliceObject*>(value);
    for (PyObject* bound : {slice->start, slice->stop, slice->step}) function(bound);
  } else if (PyCFunction_CheckExact(value)) {
    if (PyObject* self = PyCFunction_GET_SELF(value)) function(self);
  } else {
    return false;
  }
  return true;
}

PyTypeObject* guard_set_type() {
  static auto* const type = reinterpret_cast<PyTypeObject*>(nb::type<GuardSet>().ptr());
  return type;
}

/// Whether an equal object takes the place of an object of this type.
bool is_compared_by_value(PyObject* object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) ||
         PyBytes_CheckExact(object) || PyComplex_CheckExact(object) || PyRange_Check(object);
}

}  // namespace

class Reachability::Roots : public ReferenceVisitor {
 public:
  explicit Roots(Reachability& all) : all_(all) {}

  void object(PyObject* object, Role role) override {
    if (object && role != Role::kOther) add(object, 0);
  }
  void tensor(TensorImpl* tensor) override {
    if (!tensor) return;
    if (PyObject* object = object_of(*tensor))
      all_.add(object);
    else
      all_.counted_.try_emplace(tensor, 0);
  }
  void shared(const void* address, size_t) override { all_.counted_.try_emplace(address, 0); }

 private:
  void add(PyObject* object, int depth) {
    if (depth >= kMaxDepth || is_compared_by_value(object)) return;
    all_.add(object);
    for_each_part(object, [&](PyObject* part) { add(part, depth + 1); });
  }

  Reachability& all_;
};

class Reachability::Owned : public ReferenceVisitor {
 public:
  explicit Owned(Reachability& all) : all_(all) {}

  void object(PyObject* object, Role) override {
    if (const auto node = all_.nodes_.find(object); node != all_.nodes_.end()) ++node->second.references;
  }
  void tensor(TensorImpl* tensor) override { shared(tensor, 0); }
  void shared(const void* address, size_t) override {
    if (const auto found = all_.counted_.find(address); found != all_.counted_.end()) ++found->second;
  }

 private:
  Reachability& all_;
};

class Reachability::Compared : public ReferenceVisitor {
 public:
  explicit Compared(const Reachability& all) : all_(all) {}

  void object(PyObject* object, Role role) override {
    if (object && role == Role::kCompared && all) all = reaches(object, 0);
  }
  void tensor(TensorImpl* tensor) override {
    if (!tensor) return;
    if (PyObject* object = object_of(*tensor))
      all = all && all_.is_reachable(object);
    else
      shared(tensor, tensor->use_count());
  }
  void shared(const void* address, size_t use_count) override {
    const auto found = all_.counted_.find(address);
    all = all && (found == all_.counted_.end() || use_count > found->second);
  }

  bool all = true;

 private:
  bool reaches(PyObject* object, int depth) const {
    if (depth >= kMaxDepth || is_compared_by_value(object)) return true;
    bool all_parts = true;
    const auto reach_part = [&](PyObject* part) { all_parts = all_parts && reaches(part, depth + 1); };
    return for_each_part(object, reach_part) ? all_parts : all_.is_reachable(object);
  }

  const Reachability& all_;
};

void Reachability::add(const Plan& plan) {
  Roots roots(*this);
  plan(roots);
}

void Reachability::add(PyObject* object) {
  if (!nodes_.try_emplace(object).second) return;
  pending_.push_back(object);
  // The tensor is reachable without the object, which is created when it is needed.
  if (const TensorImpl* tensor = tensor_or_null(object)) ++counted_[tensor];
}

void Reachability::close(PyObject* object) {
  if (object) closed_.insert(object);
}

bool Reachability::is_open(PyObject* object) const {
  if (!PyObject_IS_GC(object) || !Py_TYPE(object)->tp_traverse || closed_.contains(object)) return false;
  if (PyType_Check(object))
    return PyType_HasFeature(reinterpret_cast<PyTypeObject*>(object), Py_TPFLAGS_HEAPTYPE) &&
           Py_REFCNT(object) <= kMaxClassReferences;
  // The references of plans are subtracted elsewhere.
  if (PyObject_TypeCheck(object, compiled_callable_type) || Py_IS_TYPE(object, guard_set_type())) return false;
  return !PyModule_Check(object) && !PyCode_Check(object);
}

void Reachability::find_references() {
  // The contents of classes and Python modules that are not looked into are not looked into either.
  for (PyObject* object : pending_) {
    if (PyModule_Check(object)) close(PyModule_GetDict(object));
    if (PyType_Check(object) && !is_open(object)) close(reinterpret_cast<PyTypeObject*>(object)->tp_dict);
    if (PyFunction_Check(object)) close(PyFunction_GET_GLOBALS(object));
  }
  const Found found = [this](PyObject* object) {
    if (PyObject_IS_GC(object)) add(object);
    if (const auto node = nodes_.find(object); node != nodes_.end()) ++node->second.references;
  };
  // Breadth first, so that the objects nearest to the plans are within the limit.
  for (size_t i = 0; i < pending_.size(); ++i) {
    PyObject* const object = pending_[i];
    if (i >= kMaxObjects) close(object);
    if (is_open(object)) for_each_reference(object, found);
  }
}

void Reachability::subtract(const Plan& plan) {
  Owned owned(*this);
  plan(owned);
}

bool Reachability::has_other_references(PyObject* object, const Node& node) const {
  if (Py_REFCNT(object) > node.references) return true;
  const TensorImpl* const tensor = tensor_or_null(object);
  return tensor && tensor->use_count() > counted_.at(tensor);
}

void Reachability::spread() {
  std::vector<PyObject*> reached;
  for (auto& [object, node] : nodes_) {
    node.is_reachable = has_other_references(object, node);
    if (node.is_reachable) reached.push_back(object);
  }
  const Found found = [&](PyObject* object) {
    const auto node = nodes_.find(object);
    if (node == nodes_.end() || node->second.is_reachable) return;
    node->second.is_reachable = true;
    reached.push_back(object);
  };
  while (!reached.empty()) {
    PyObject* const object = reached.back();
    reached.pop_back();
    if (is_open(object)) for_each_reference(object, found);
  }
}

bool Reachability::is_reachable(PyObject* object) const {
  const auto node = nodes_.find(object);
  return node == nodes_.end() || node->second.is_reachable;
}

bool Reachability::reaches(const Plan& plan) const {
  Compared compared(*this);
  plan(compared);
  return compared.all;
}

}  // namespace lucid::python
