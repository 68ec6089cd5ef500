#include "capture/object_guards.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>

#include "base/error.h"

// CPython declares these for internal use only.
extern "C" {
PyObject** _PyObject_GetDictPtr(PyObject*);
PyObject* _PyDict_GetItem_KnownHash(PyObject*, PyObject*, Py_hash_t);
int _PyDict_SetItem_KnownHash(PyObject*, PyObject*, PyObject*, Py_hash_t);
int _PySet_NextEntry(PyObject*, Py_ssize_t*, PyObject**, Py_hash_t*);
}

namespace lucid::python {
namespace {

/// Calls a function with every item of a list, a deque or a set until it returns false.
template <typename Function>
bool for_each_item(PyObject* holder, Function function) {
  if (PyList_Check(holder)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(holder); ++i)
      if (!function(PyList_GET_ITEM(holder, i))) return false;
    return true;
  }
  if (PyAnySet_Check(holder)) {
    PyObject* item = nullptr;
    Py_hash_t hash = 0;
    for (Py_ssize_t at = 0; _PySet_NextEntry(holder, &at, &item, &hash);)
      if (!function(item)) return false;
    return true;
  }
  // Deques, and the keys of ordered dicts: the iterator of the builtin type, even if a subclass overrides it.
  PyTypeObject* type = Py_TYPE(holder);
  while (type->tp_flags & Py_TPFLAGS_HEAPTYPE && type->tp_base != &PyBaseObject_Type) type = type->tp_base;
  PyObject* iterator = type->tp_iter ? type->tp_iter(holder) : nullptr;
  if (!iterator) {
    PyErr_Clear();
    return false;
  }
  bool all = true;
  while (all) {
    PyObject* item = Py_TYPE(iterator)->tp_iternext(iterator);
    if (!item) break;
    all = function(item);
    Py_DECREF(item);
  }
  PyErr_Clear();
  Py_DECREF(iterator);
  return all;
}

Py_ssize_t size_of(PyObject* holder) {
  if (PyList_Check(holder)) return PyList_GET_SIZE(holder);
  if (PyAnySet_Check(holder)) return PySet_GET_SIZE(holder);
  if (PyDict_Check(holder)) return PyDict_GET_SIZE(holder);
  return Py_SIZE(holder);
}

}  // namespace

bool has_attribute_dict(PyObject* object) {
  PyObject** slot = _PyObject_GetDictPtr(object);
  PyErr_Clear();
  return slot && *slot;
}

PyObject* attributes_of(PyObject* object) {
  PyObject** slot = _PyObject_GetDictPtr(object);
  if (!slot) {
    PyErr_Clear();
    return nullptr;
  }
  if (!*slot) {
    const nb::object made = nb::steal(PyObject_GenericGetDict(object, nullptr));
    if (!made.is_valid()) {
      PyErr_Clear();
      return nullptr;
    }
  }
  return *slot;
}

// Dicts.

DictGuard::DictGuard(PyObject* dict, PyObject* names, std::string source, Style style)
    : dict(Py_NewRef(dict)),
      names(Py_XNewRef(names)),
      expected(nullptr),
      source(std::move(source)),
      style(style),
      version(version_of(dict)) {
  PyObject *name = nullptr, *value = nullptr;
  if (!names) {
    // Copies the entries without hashing keys or calling a subclass's copy().
    const nb::object entries = checked(PyTuple_New(2 * PyDict_GET_SIZE(dict)));
    Py_ssize_t i = 0;
    for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &name, &value); i += 2) {
      PyTuple_SET_ITEM(entries.ptr(), i, Py_NewRef(name));
      PyTuple_SET_ITEM(entries.ptr(), i + 1, Py_NewRef(value));
    }
    expected = Py_NewRef(entries.ptr());
    return;
  }
  expected = checked(PyDict_New()).release().ptr();
  for_each_named([&](PyObject* found, Py_hash_t hash, PyObject* now) {
    check_status(_PyDict_SetItem_KnownHash(expected, found, now, hash));
    return true;
  });
}

template <typename Function>
bool DictGuard::for_each_named(Function function) const {
  PyObject *name = nullptr, *value = nullptr;
  Py_hash_t hash = 0;
  if (PySet_GET_SIZE(names) <= PyDict_GET_SIZE(dict)) {
    for (Py_ssize_t at = 0; _PySet_NextEntry(names, &at, &name, &hash);)
      if (PyObject* now = _PyDict_GetItem_KnownHash(dict, name, hash); now && !function(name, hash, now)) return false;
    return true;
  }
  // Most names belong to attributes of other objects, so iterating over the smaller dict is faster.
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &name, &value);)
    if (PyUnicode_CheckExact(name) && PySet_Contains(names, name) == 1 && !function(name, PyObject_Hash(name), value))
      return false;
  return true;
}

bool DictGuard::holds_all() const {
  if (2 * PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(expected)) return false;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t i = 0;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value); i += 2)
    if (!same(PyTuple_GET_ITEM(expected, i), key) || !matches(PyTuple_GET_ITEM(expected, i + 1), value)) return false;
  return true;
}

bool DictGuard::holds_names() const {
  // A key of another type may equal a name.
  if (!has_only_names(dict)) return false;
  Py_ssize_t found = 0;
  const bool equal = for_each_named([&](PyObject* name, Py_hash_t hash, PyObject* now) {
    PyObject* before = _PyDict_GetItem_KnownHash(expected, name, hash);
    ++found;
    return before && matches(before, now);
  });
  return equal && found == PyDict_GET_SIZE(expected);
}

bool DictGuard::holds_at(uint64_t now) const {
  if (!(names ? holds_names() : holds_all())) return false;
  version = now;
  return true;
}

Difference DictGuard::difference_of(PyObject* key, PyObject* before, PyObject* now) const {
  const std::string name = name_text(key);
  std::string where;
  switch (style) {
    case Style::kGlobal:
      where = source + name;
      break;
    case Style::kAttribute:
    case Style::kClass:
      where = source + "." + name;
      break;
    case Style::kItem:
      where = source + "[" + value_text(key) + "]";
      break;
  }
  return {where, style == Style::kItem ? source : name, value_text(before), value_text(now)};
}

std::optional<Difference> DictGuard::difference() const {
  if (holds()) return std::nullopt;
  PyObject *key = nullptr, *value = nullptr;
  const auto before = [&](PyObject* wanted) -> PyObject* {
    if (names) return PyUnicode_CheckExact(wanted) ? find_name(expected, wanted) : nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(expected); i += 2)
      if (same(PyTuple_GET_ITEM(expected, i), wanted)) return PyTuple_GET_ITEM(expected, i + 1);
    return nullptr;
  };
  // In the order of the dict: the order of sets differs between processes.
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
    if (names && (!PyUnicode_CheckExact(key) || PySet_Contains(names, key) != 1)) continue;
    if (PyObject* old = before(key); !matches(old, value)) return difference_of(key, old, value);
  }
  if (names) {
    for (Py_ssize_t at = 0; PyDict_Next(expected, &at, &key, &value);)
      if (!find_name(dict, key)) return difference_of(key, value, nullptr);
  } else {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(expected); i += 2) {
      bool there = false;
      for (Py_ssize_t at = 0; !there && PyDict_Next(dict, &at, &key, &value);)
        there = same(PyTuple_GET_ITEM(expected, i), key);
      if (!there) return difference_of(PyTuple_GET_ITEM(expected, i), PyTuple_GET_ITEM(expected, i + 1), nullptr);
    }
  }
  return Difference{source, source, "in one order", "in another"};
}

bool DictGuard::add_writes(std::vector<Write>& writes, const std::unordered_set<PyObject*>& made) const {
  const bool is_held = holds();
  if (is_held && made.empty()) return true;
  // The interpreter remembers what it found in classes, so a store must go through the class.
  if (style == Style::kClass) return is_held;
  const auto add = [&](PyObject* key, PyObject* before, PyObject* now) {
    if (!matches(before, now) || made.contains(now))
      writes.push_back({{Location::Kind::kEntry, dict, key},
                        difference_of(key, before, now).source,
                        nb::borrow(before),
                        nb::borrow(now)});
  };
  PyObject *key = nullptr, *value = nullptr;
  if (names) {
    if (!has_only_names(dict)) return is_held;
    for (Py_ssize_t at = 0; PyDict_Next(expected, &at, &key, &value);)
      if (!find_name(dict, key)) return false;
    return for_each_named([&](PyObject* name, Py_hash_t, PyObject* now) {
      add(name, find_name(expected, name), now);
      return true;
    });
  }
  // The same keys in the same order.
  if (2 * PyDict_GET_SIZE(dict) != PyTuple_GET_SIZE(expected)) return false;
  Py_ssize_t i = 0;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value); i += 2) {
    if (!PyUnicode_CheckExact(key) && !PyLong_CheckExact(key)) return is_held;
    if (!same(PyTuple_GET_ITEM(expected, i), key)) return false;
    add(key, PyTuple_GET_ITEM(expected, i + 1), value);
  }
  return true;
}

namespace {

void set_item(PyObject* tuple, Py_ssize_t i, PyObject* value) {
  PyObject* const before = PyTuple_GET_ITEM(tuple, i);
  PyTuple_SET_ITEM(tuple, i, Py_NewRef(value));
  Py_DECREF(before);
}

}  // namespace

void DictGuard::release(PyObject* key) {
  if (names) return check_status(PyDict_SetItem(expected, key, anything()));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(expected); i += 2)
    if (same(PyTuple_GET_ITEM(expected, i), key)) set_item(expected, i + 1, anything());
}

void DictGuard::accept_numbers(PyObject* name) {
  PyObject* const before = find_name(expected, name);
  if (before && (PyLong_CheckExact(before) || PyFloat_CheckExact(before)))
    check_status(PyDict_SetItem(expected, name, any_number(Py_TYPE(before))));
}

size_t DictGuard::size() const {
  return static_cast<size_t>(names ? PySet_GET_SIZE(names) : std::max<Py_ssize_t>(1, PyTuple_GET_SIZE(expected) / 2));
}

// Instances.

InstanceGuard::InstanceGuard(PyObject* object, std::string source)
    : object(Py_NewRef(object)),
      type(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(object)))),
      dict(nullptr),
      slot(_PyObject_GetDictPtr(object)),
      source(std::move(source)) {
  PyErr_Clear();
  if (slot) dict = Py_XNewRef(*slot);
}

std::optional<Difference> InstanceGuard::difference() const {
  if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != type)
    return Difference{source + ".__class__", source, reinterpret_cast<PyTypeObject*>(type)->tp_name,
                      Py_TYPE(object)->tp_name};
  return differ(holds(), source + ".__dict__", "one dict", "another");
}

// Classes.

namespace {

const PyHeapTypeObject* heap_type(PyObject* type) {
  const bool is_heap_type = PyType_HasFeature(reinterpret_cast<PyTypeObject*>(type), Py_TPFLAGS_HEAPTYPE);
  return is_heap_type ? reinterpret_cast<PyHeapTypeObject*>(type) : nullptr;
}
PyObject* name_of(PyObject* type) { return heap_type(type) ? heap_type(type)->ht_name : nullptr; }
PyObject* qualified_name_of(PyObject* type) { return heap_type(type) ? heap_type(type)->ht_qualname : nullptr; }

}  // namespace

ClassGuard::ClassGuard(PyObject* type, std::string source)
    : type(nullptr), name(nullptr), qualified_name(nullptr), order(nullptr), source(std::move(source)) {
  if (!PyType_Check(type)) throw TypeError("class: expected a class");
  this->type = Py_NewRef(type);
  name = Py_XNewRef(name_of(type));
  qualified_name = Py_XNewRef(qualified_name_of(type));
  order = Py_XNewRef(reinterpret_cast<PyTypeObject*>(type)->tp_mro);
}

std::optional<Difference> ClassGuard::difference() const {
  if (reinterpret_cast<PyTypeObject*>(type)->tp_mro != order)
    return Difference{source + ".__bases__", source, "some classes", "others"};
  if (const auto difference = differ(equal_constants(name, name_of(type)), source + ".__name__", value_text(name),
                                     value_text(name_of(type))))
    return difference;
  return differ(holds(), source + ".__qualname__", value_text(qualified_name), value_text(qualified_name_of(type)));
}

// Cells and slots.

SlotGuard::SlotGuard(PyObject* holder, PyObject* member, std::string source)
    : holder(nullptr), offset(-1), expected(nullptr), source(std::move(source)) {
  if (member) {
    if (!Py_IS_TYPE(member, &PyMemberDescr_Type)) throw TypeError("slot: expected a member descriptor");
    const PyMemberDef* definition = reinterpret_cast<PyMemberDescrObject*>(member)->d_member;
    if (definition->type != T_OBJECT_EX && definition->type != T_OBJECT)
      throw TypeError("slot: {} does not hold an object", definition->name);
    offset = definition->offset;
  } else if (!PyCell_Check(holder)) {
    throw TypeError("cell: expected a cell");
  }
  this->holder = Py_NewRef(holder);
  expected = Py_XNewRef(now());
}

std::optional<Difference> SlotGuard::difference() const {
  return differ(holds(), source, value_text(expected), value_text(now()));
}

// Lists, deques and sets.

SequenceGuard::SequenceGuard(PyObject* holder, std::string source)
    : holder(Py_NewRef(holder)), expected(nullptr), source(std::move(source)) {
  const nb::object items = checked(PyList_New(0));
  for_each_item(holder, [&](PyObject* item) {
    check_status(PyList_Append(items.ptr(), item));
    return true;
  });
  expected = checked(PyList_AsTuple(items.ptr())).release().ptr();
}

bool SequenceGuard::holds() const {
  const Py_ssize_t size = PyTuple_GET_SIZE(expected);
  if (size_of(holder) != size) return false;
  Py_ssize_t i = 0;
  return for_each_item(holder, [&](PyObject* item) {
    if (i >= size) return false;
    return matches(PyTuple_GET_ITEM(expected, i++), item);
  });
}

std::optional<Difference> SequenceGuard::difference() const {
  if (holds()) return std::nullopt;
  const Py_ssize_t size = PyTuple_GET_SIZE(expected);
  if (size_of(holder) != size) {
    const auto count = [](Py_ssize_t items) { return std::to_string(items) + (items == 1 ? " item" : " items"); };
    return Difference{source, source, count(size), count(size_of(holder))};
  }
  Difference found{source, source, "in one order", "in another"};
  Py_ssize_t i = 0;
  for_each_item(holder, [&](PyObject* item) {
    PyObject* before = PyTuple_GET_ITEM(expected, i);
    if (matches(before, item)) return ++i < size;
    if (!PyAnySet_Check(holder))
      found = {source + "[" + std::to_string(i) + "]", source, value_text(before), value_text(item)};
    return false;
  });
  return found;
}

bool SequenceGuard::add_writes(std::vector<Write>& writes) const {
  if (holds()) return true;
  if (!PyList_CheckExact(holder) || PyList_GET_SIZE(holder) < PyTuple_GET_SIZE(expected)) return false;
  const Py_ssize_t size = PyTuple_GET_SIZE(expected);
  if (PyList_GET_SIZE(holder) > size) {
    for (Py_ssize_t i = 0; i < size; ++i)
      if (!matches(PyTuple_GET_ITEM(expected, i), PyList_GET_ITEM(holder, i))) return false;
    const nb::object added = checked(PyList_GetSlice(holder, size, PyList_GET_SIZE(holder)));
    writes.push_back(
        {{Location::Kind::kEnd, holder}, source, nb::borrow(expected), checked(PyList_AsTuple(added.ptr()))});
    return true;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(holder); ++i) {
    PyObject *before = PyTuple_GET_ITEM(expected, i), *now = PyList_GET_ITEM(holder, i);
    if (matches(before, now)) continue;
    writes.push_back({{Location::Kind::kItem, holder, nullptr, i},
                      source + "[" + std::to_string(i) + "]",
                      nb::borrow(before),
                      nb::borrow(now)});
  }
  return true;
}

void SequenceGuard::release(Py_ssize_t index) { set_item(expected, index, anything()); }

// Functions.

namespace {

const PyFunctionObject& object_of(PyObject* function) { return *reinterpret_cast<PyFunctionObject*>(function); }

}  // namespace

FunctionGuard::FunctionGuard(PyObject* function, std::string source)
    : function(nullptr),
      name(nullptr),
      qualified_name(nullptr),
      code(nullptr),
      defaults(nullptr),
      keyword_defaults(nullptr),
      source(std::move(source)) {
  if (!PyFunction_Check(function)) throw TypeError("function: expected a function");
  this->function = Py_NewRef(function);
  name = Py_XNewRef(object_of(function).func_name);
  qualified_name = Py_XNewRef(object_of(function).func_qualname);
  code = Py_NewRef(PyFunction_GET_CODE(function));
  defaults = Py_XNewRef(PyFunction_GET_DEFAULTS(function));
  keyword_defaults = Py_XNewRef(PyFunction_GET_KW_DEFAULTS(function));
}

bool FunctionGuard::holds() const {
  return PyFunction_GET_CODE(function) == code && PyFunction_GET_KW_DEFAULTS(function) == keyword_defaults &&
         same(defaults, PyFunction_GET_DEFAULTS(function)) && equal_constants(name, object_of(function).func_name) &&
         equal_constants(qualified_name, object_of(function).func_qualname);
}

std::optional<Difference> FunctionGuard::difference() const {
  if (PyFunction_GET_CODE(function) != code) return Difference{source + ".__code__", source, "one code", "another"};
  if (!same(defaults, PyFunction_GET_DEFAULTS(function)))
    return Difference{source + ".__defaults__", source, value_text(defaults),
                      value_text(PyFunction_GET_DEFAULTS(function))};
  if (PyFunction_GET_KW_DEFAULTS(function) != keyword_defaults)
    return Difference{source + ".__kwdefaults__", source, "one dict", "another"};
  if (const auto difference = differ(equal_constants(name, object_of(function).func_name), source + ".__name__",
                                     value_text(name), value_text(object_of(function).func_name)))
    return difference;
  return differ(holds(), source + ".__qualname__", value_text(qualified_name),
                value_text(object_of(function).func_qualname));
}

}  // namespace lucid::python
