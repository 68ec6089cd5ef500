#include "capture/places.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>

#include "base/error.h"

// Declared only for CPython itself.
extern "C" {
PyObject** _PyObject_GetDictPtr(PyObject*);
PyObject* _PyDict_GetItem_KnownHash(PyObject*, PyObject*, Py_hash_t);
int _PyDict_SetItem_KnownHash(PyObject*, PyObject*, PyObject*, Py_hash_t);
int _PySet_NextEntry(PyObject*, Py_ssize_t*, PyObject**, Py_hash_t*);
}

namespace lucid::python {
namespace {

PyObject* find(PyObject* dict, PyObject* key) {
  const Py_hash_t hash = PyObject_Hash(key);
  PyObject* found = _PyDict_GetItem_KnownHash(dict, key, hash);
  if (!found) PyErr_Clear();
  return found;
}

std::string text_of(PyObject* name) {
  const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  if (text) return text;
  PyErr_Clear();
  return words_of(name);
}

std::optional<Difference> differ(bool holds, const std::string& place, std::string before, std::string now) {
  if (holds) return std::nullopt;
  return Difference{place, place, std::move(before), std::move(now)};
}

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
    for (Py_ssize_t place = 0; _PySet_NextEntry(holder, &place, &item, &hash);)
      if (!function(item)) return false;
    return true;
  }
  // The type's own iterator, whatever a subclass has made of it: deques, and the keys of ordered dicts.
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

bool read_bytes(PyObject* holder, std::string& bytes) {
  Py_buffer view;
  if (PyObject_GetBuffer(holder, &view, PyBUF_FULL_RO) < 0) {
    PyErr_Clear();
    return false;
  }
  // What kind of array it is belongs to its contents.
  bytes = view.format ? view.format : "";
  for (int i = 0; i < view.ndim; ++i) bytes += "," + std::to_string(view.shape ? view.shape[i] : view.len);
  const size_t header = bytes.size();
  bytes.resize(header + static_cast<size_t>(view.len));
  const bool read = PyBuffer_ToContiguous(bytes.data() + header, &view, view.len, 'C') == 0;
  PyBuffer_Release(&view);
  PyErr_Clear();
  return read;
}

}  // namespace

PyObject* attributes_of(PyObject* object) {
  PyObject** place = _PyObject_GetDictPtr(object);
  if (!place) {
    PyErr_Clear();
    return nullptr;
  }
  if (!*place) {
    const nb::object made = nb::steal(PyObject_GenericGetDict(object, nullptr));
    if (!made.is_valid()) {
      PyErr_Clear();
      return nullptr;
    }
  }
  return *place;
}

// Dicts.

DictGuard::DictGuard(PyObject* dict, PyObject* names, std::string place, Style style)
    : dict(Py_NewRef(dict)),
      names(Py_XNewRef(names)),
      expected(nullptr),
      place(std::move(place)),
      style(style),
      version(version_of(dict)) {
  PyObject *name = nullptr, *value = nullptr;
  if (!names) {
    // Neither the hashes of the keys nor what a subclass makes of being copied are asked for.
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
  // Most names are those of attributes of other objects.
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
    if (!same(PyTuple_GET_ITEM(expected, i), key) || !same(PyTuple_GET_ITEM(expected, i + 1), value)) return false;
  return true;
}

bool DictGuard::holds_names() const {
  Py_ssize_t found = 0;
  const bool equal = for_each_named([&](PyObject* name, Py_hash_t hash, PyObject* now) {
    PyObject* before = _PyDict_GetItem_KnownHash(expected, name, hash);
    ++found;
    return before && same(before, now);
  });
  return equal && found == PyDict_GET_SIZE(expected);
}

bool DictGuard::holds() const {
  const uint64_t now = version_of(dict);
  if (now == version && now != 0) return true;
  if (!(names ? holds_names() : holds_all())) return false;
  version = now;
  return true;
}

Difference DictGuard::words(PyObject* key, PyObject* before, PyObject* now) const {
  const std::string name = text_of(key);
  std::string where;
  switch (style) {
    case Style::kGlobal:
      where = place + name;
      break;
    case Style::kAttribute:
      where = place + "." + name;
      break;
    case Style::kItem:
      where = place + "[" + words_of(key) + "]";
      break;
  }
  return {where, style == Style::kItem ? place : name, words_of(before), words_of(now)};
}

std::optional<Difference> DictGuard::difference() const {
  if (holds()) return std::nullopt;
  PyObject *key = nullptr, *value = nullptr;
  const auto before = [&](PyObject* wanted) -> PyObject* {
    if (names) return find(expected, wanted);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(expected); i += 2)
      if (same(PyTuple_GET_ITEM(expected, i), wanted)) return PyTuple_GET_ITEM(expected, i + 1);
    return nullptr;
  };
  // In the order of the dict: sets have another one in each process.
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
    if (names && PySet_Contains(names, key) != 1) continue;
    if (PyObject* old = before(key); !same(old, value)) return words(key, old, value);
  }
  if (names) {
    for (Py_ssize_t at = 0; PyDict_Next(expected, &at, &key, &value);)
      if (!find(dict, key)) return words(key, value, nullptr);
  } else {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(expected); i += 2) {
      bool there = false;
      for (Py_ssize_t at = 0; !there && PyDict_Next(dict, &at, &key, &value);)
        there = same(PyTuple_GET_ITEM(expected, i), key);
      if (!there) return words(PyTuple_GET_ITEM(expected, i), PyTuple_GET_ITEM(expected, i + 1), nullptr);
    }
  }
  return Difference{place, place, "in one order", "in another"};
}

size_t DictGuard::size() const {
  return static_cast<size_t>(names ? PySet_GET_SIZE(names) : std::max<Py_ssize_t>(1, PyTuple_GET_SIZE(expected) / 2));
}

// Instances.

InstanceGuard::InstanceGuard(PyObject* object, std::string place)
    : object(Py_NewRef(object)),
      type(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(object)))),
      dict(Py_XNewRef(attributes_of(object))),
      slot(dict ? _PyObject_GetDictPtr(object) : nullptr),
      place(std::move(place)) {}

bool InstanceGuard::holds() const {
  if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != type) return false;
  return !slot || *slot == dict;
}

std::optional<Difference> InstanceGuard::difference() const {
  if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != type)
    return Difference{place + ".__class__", place, reinterpret_cast<PyTypeObject*>(type)->tp_name,
                      Py_TYPE(object)->tp_name};
  return differ(holds(), place + ".__dict__", "one dict", "another");
}

// Classes.

namespace {

PyObject* name_of(PyObject* type) {
  return PyType_HasFeature(reinterpret_cast<PyTypeObject*>(type), Py_TPFLAGS_HEAPTYPE)
             ? reinterpret_cast<PyHeapTypeObject*>(type)->ht_name
             : nullptr;
}

}  // namespace

ClassGuard::ClassGuard(PyObject* type, std::string place)
    : type(nullptr), name(nullptr), order(nullptr), place(std::move(place)) {
  if (!PyType_Check(type)) throw TypeError("class: expected a class");
  this->type = Py_NewRef(type);
  name = Py_XNewRef(name_of(type));
  order = Py_XNewRef(reinterpret_cast<PyTypeObject*>(type)->tp_mro);
}

bool ClassGuard::holds() const {
  return reinterpret_cast<PyTypeObject*>(type)->tp_mro == order && same(name, name_of(type));
}

std::optional<Difference> ClassGuard::difference() const {
  if (reinterpret_cast<PyTypeObject*>(type)->tp_mro != order)
    return Difference{place + ".__bases__", place, "some classes", "others"};
  return differ(holds(), place + ".__name__", words_of(name), words_of(name_of(type)));
}

// Cells and slots.

SlotGuard::SlotGuard(PyObject* holder, PyObject* member, std::string place)
    : holder(nullptr), offset(-1), expected(nullptr), place(std::move(place)) {
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

PyObject* SlotGuard::now() const {
  if (offset < 0) return PyCell_GET(holder);
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(holder) + offset);
}

std::optional<Difference> SlotGuard::difference() const {
  return differ(holds(), place, words_of(expected), words_of(now()));
}

// Lists, deques and sets.

SequenceGuard::SequenceGuard(PyObject* holder, std::string place)
    : holder(Py_NewRef(holder)), expected(nullptr), place(std::move(place)) {
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
    return same(PyTuple_GET_ITEM(expected, i++), item);
  });
}

std::optional<Difference> SequenceGuard::difference() const {
  if (holds()) return std::nullopt;
  const Py_ssize_t size = PyTuple_GET_SIZE(expected);
  if (size_of(holder) != size) {
    const auto words = [](Py_ssize_t items) { return std::to_string(items) + (items == 1 ? " item" : " items"); };
    return Difference{place, place, words(size), words(size_of(holder))};
  }
  Difference found{place, place, "in one order", "in another"};
  Py_ssize_t i = 0;
  for_each_item(holder, [&](PyObject* item) {
    PyObject* before = PyTuple_GET_ITEM(expected, i);
    if (same(before, item)) return ++i < size;
    if (!PyAnySet_Check(holder))
      found = {place + "[" + std::to_string(i) + "]", place, words_of(before), words_of(item)};
    return false;
  });
  return found;
}

// Functions.

namespace {

const PyFunctionObject& object_of(PyObject* function) { return *reinterpret_cast<PyFunctionObject*>(function); }

}  // namespace

FunctionGuard::FunctionGuard(PyObject* function, std::string place)
    : function(nullptr),
      name(nullptr),
      qualified_name(nullptr),
      code(nullptr),
      defaults(nullptr),
      keyword_defaults(nullptr),
      place(std::move(place)) {
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
         same(defaults, PyFunction_GET_DEFAULTS(function)) && same(name, object_of(function).func_name) &&
         same(qualified_name, object_of(function).func_qualname);
}

std::optional<Difference> FunctionGuard::difference() const {
  if (PyFunction_GET_CODE(function) != code) return Difference{place + ".__code__", place, "one code", "another"};
  if (!same(defaults, PyFunction_GET_DEFAULTS(function)))
    return Difference{place + ".__defaults__", place, words_of(defaults), words_of(PyFunction_GET_DEFAULTS(function))};
  if (PyFunction_GET_KW_DEFAULTS(function) != keyword_defaults)
    return Difference{place + ".__kwdefaults__", place, "one dict", "another"};
  if (const auto difference = differ(same(name, object_of(function).func_name), place + ".__name__", words_of(name),
                                     words_of(object_of(function).func_name)))
    return difference;
  return differ(holds(), place + ".__qualname__", words_of(qualified_name),
                words_of(object_of(function).func_qualname));
}

// Bytes.

BytesGuard::BytesGuard(PyObject* holder, std::string place) : holder(nullptr), place(std::move(place)) {
  if (!read_bytes(holder, expected)) throw TypeError("bytes: a {} has no bytes to look at", Py_TYPE(holder)->tp_name);
  this->holder = Py_NewRef(holder);
}

bool BytesGuard::holds() const {
  std::string now;
  return read_bytes(holder, now) && now == expected;
}

std::optional<Difference> BytesGuard::difference() const { return differ(holds(), place, "some values", "others"); }

// Calls.

CallGuard::CallGuard(PyObject* function, std::string place)
    : function(Py_NewRef(function)), expected(nullptr), place(std::move(place)) {
  expected = checked(PyObject_CallNoArgs(function)).release().ptr();
}

bool CallGuard::holds() const {
  PyObject* now = PyObject_CallNoArgs(function);
  const bool equal = same(expected, now);
  Py_XDECREF(now);
  PyErr_Clear();
  return equal;
}

std::optional<Difference> CallGuard::difference() const {
  const nb::object now = nb::steal(PyObject_CallNoArgs(function));
  return differ(holds(), place, words_of(expected), words_of(now.ptr()));
}

}  // namespace lucid::python
