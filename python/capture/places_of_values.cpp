// Guards of values that are read anew for each check.

#include "base/error.h"
#include "capture/places.h"

namespace lucid::python {
namespace {

bool read_bytes(PyObject* holder, std::string& bytes) {
  Py_buffer view;
  if (PyObject_GetBuffer(holder, &view, PyBUF_FULL_RO) < 0) {
    PyErr_Clear();
    return false;
  }
  // What programs can see of the layout is compared along with the contents.
  bytes = std::string(view.readonly ? "r" : "w") + (view.format ? view.format : "");
  for (int i = 0; i < view.ndim; ++i) {
    bytes += "," + std::to_string(view.shape ? view.shape[i] : view.len);
    if (view.strides) bytes += ":" + std::to_string(view.strides[i]);
  }
  const size_t header = bytes.size();
  bytes.resize(header + static_cast<size_t>(view.len));
  const bool read = PyBuffer_ToContiguous(bytes.data() + header, &view, view.len, 'C') == 0;
  PyBuffer_Release(&view);
  PyErr_Clear();
  return read;
}

}  // namespace

// Bytes.

BytesGuard::BytesGuard(PyObject* holder, std::string place) : holder(nullptr), place(std::move(place)) {
  if (!read_bytes(holder, expected)) throw TypeError("bytes: a {} has no readable buffer", Py_TYPE(holder)->tp_name);
  this->holder = Py_NewRef(holder);
}

bool BytesGuard::holds() const {
  std::string now;
  return read_bytes(holder, now) && now == expected;
}

std::optional<Difference> BytesGuard::difference() const { return differ(holds(), place, "some values", "others"); }

// Context variables.

ContextGuard::ContextGuard(PyObject* variable, std::string place)
    : variable(nullptr), expected(nullptr), place(std::move(place)) {
  if (!PyContextVar_CheckExact(variable)) throw TypeError("context: expected a context variable");
  this->variable = Py_NewRef(variable);
  expected = now().release().ptr();
}

nb::object ContextGuard::now() const {
  PyObject* value = nullptr;
  if (PyContextVar_Get(variable, nullptr, &value) < 0) PyErr_Clear();
  return nb::steal(value);
}

bool ContextGuard::holds() const { return same(expected, now().ptr()); }

std::optional<Difference> ContextGuard::difference() const {
  return differ(holds(), place, value_text(expected), value_text(now().ptr()));
}

// Calls.

CallGuard::CallGuard(PyObject* function, std::string place)
    : function(Py_NewRef(function)), expected(nullptr), place(std::move(place)) {
  expected = checked(PyObject_CallNoArgs(function)).release().ptr();
}

bool CallGuard::holds() const {
  PyObject* now = PyObject_CallNoArgs(function);
  const bool equal = equal_constants(expected, now);
  Py_XDECREF(now);
  PyErr_Clear();
  return equal;
}

std::optional<Difference> CallGuard::difference() const {
  const nb::object now = nb::steal(PyObject_CallNoArgs(function));
  return differ(holds(), place, value_text(expected), value_text(now.ptr()));
}

}  // namespace lucid::python
