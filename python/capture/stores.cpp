#include "capture/stores.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings/module_object.h"
#include "bindings/tensor_object.h"

namespace lucid::python {
namespace {

PyObject** slot_of(const Location& location) {
  return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(location.holder) + location.offset);
}

nn::NamedSlot* buffer_in(const Location& location) {
  nn::Module* const module = module_object(location.holder).module;
  return module ? module->find_buffer(PyUnicode_AsUTF8(location.key)) : nullptr;
}

}  // namespace

PyObject* Location::now() const {
  switch (kind) {
    case Kind::kEntry:
      // All keys are exact strs and ints, so looking one up runs no code of users.
      return PyUnicode_CheckExact(key) ? find_name(holder, key) : PyDict_GetItemWithError(holder, key);
    case Kind::kItem:
      return offset < PyList_GET_SIZE(holder) ? PyList_GET_ITEM(holder, offset) : nullptr;
    case Kind::kCell:
      return PyCell_GET(holder);
    case Kind::kSlot:
      return *slot_of(*this);
    case Kind::kBuffer: {
      nn::NamedSlot* const buffer = buffer_in(*this);
      if (!buffer || !buffer->slot.impl()) return nullptr;
      // The slot keeps the object.
      PyObject* const object = object_in(buffer->slot);
      Py_DECREF(object);
      return object;
    }
    case Kind::kEnd:
      break;
  }
  return nullptr;
}

void Location::set(PyObject* value) const {
  switch (kind) {
    case Kind::kEntry:
      return check_status(PyDict_SetItem(holder, key, value));
    case Kind::kItem:
      return check_status(PyList_SetItem(holder, offset, Py_NewRef(value)));
    case Kind::kCell:
      return check_status(PyCell_Set(holder, value));
    case Kind::kSlot: {
      // What the slot held is released last: that may run code.
      PyObject* const before = std::exchange(*slot_of(*this), Py_NewRef(value));
      Py_XDECREF(before);
      return;
    }
    case Kind::kBuffer: {
      nn::Module& module = module_in(holder);
      const std::string_view name = PyUnicode_AsUTF8(key);
      module.set_buffer(name, Tensor(&expect_tensor("store", value)), module.find_buffer(name)->persistent);
      return keep_object(module.find_buffer(name)->slot, value);
    }
    case Kind::kEnd:
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i)
        check_status(PyList_Append(holder, PyTuple_GET_ITEM(value, i)));
  }
}

namespace {

/// An object that stands for others. Never destroyed: guards may refer to it until the interpreter is gone.
PyObject* new_symbol() {
  return checked(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type))).release().ptr();
}

PyObject* any_int() {
  static PyObject* const symbol = new_symbol();
  return symbol;
}

PyObject* any_float() {
  static PyObject* const symbol = new_symbol();
  return symbol;
}

}  // namespace

PyObject* anything() {
  static PyObject* const symbol = new_symbol();
  return symbol;
}

PyObject* any_number(PyTypeObject* type) {
  return type == &PyLong_Type ? any_int() : type == &PyFloat_Type ? any_float() : nullptr;
}

bool is_any_number(PyObject* object) { return object == any_int() || object == any_float(); }

void Stores::add(const Location& location, std::string name, TensorImpl* before, bool counts) {
  if (before) inputs_.push_back({stores_.size(), InputType(*before, tensor_type)});
  stores_.push_back({{location.kind, Py_NewRef(location.holder), Py_XNewRef(location.key), location.offset},
                     std::move(name),
                     counts});
}

bool Stores::find_any_inputs(Inputs& inputs) const {
  for (const auto& [store, type] : inputs_) {
    TensorImpl* const tensor = type.match(stores_[store].location.now());
    if (!tensor) return false;
    inputs.push_back(TensorRef(tensor));
  }
  return std::ranges::all_of(stores_, [](const Store& store) {
    PyObject* const now = store.counts ? store.location.now() : nullptr;
    return !store.counts || (now && PyLong_CheckExact(now));
  });
}

std::optional<Difference> Stores::difference() const {
  for (const auto& [store, type] : inputs_) {
    const auto& [location, name, counts] = stores_[store];
    if (!type.match(location.now())) return Difference{name, name, type.text(), InputType::text_of(location.now())};
  }
  return std::nullopt;
}

void Stores::set(std::span<PyObject* const> values) const {
  for (size_t i = 0; i < stores_.size(); ++i) {
    const auto& [location, name, counts] = stores_[i];
    const nb::object now = nb::borrow(counts ? location.now() : nullptr);
    location.set(now.is_valid() ? checked(PyNumber_Add(now.ptr(), values[i])).ptr() : values[i]);
  }
}

nb::list Stores::compared(std::span<PyObject* const> values) const {
  nb::list result;
  for (size_t i = 0; i < stores_.size(); ++i) {
    const auto& [location, name, counts] = stores_[i];
    if (counts) continue;
    nb::object now = nb::none();
    if (location.kind == Location::Kind::kEnd) {
      const Py_ssize_t count = PyList_GET_SIZE(location.holder), added = PyTuple_GET_SIZE(values[i]);
      now = checked(PyList_GetSlice(location.holder, count - std::min(count, added), count));
      now = checked(PyList_AsTuple(now.ptr()));
    } else if (PyObject* const held = location.now()) {
      now = nb::borrow(held);
    }
    result.append(nb::make_tuple(name, nb::borrow(values[i]), now));
  }
  return result;
}

void Stores::clear() {
  const std::vector<Store> dropped = std::exchange(stores_, {});
  inputs_.clear();
  for (const Store& store : dropped) {
    Py_DECREF(store.location.holder);
    Py_XDECREF(store.location.key);
  }
}

}  // namespace lucid::python
