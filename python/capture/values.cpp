#include "capture/values.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/stack.h"

namespace lucid::python {
namespace {

constexpr size_t kMaxText = 60;

bool same_items(PyObject* before, PyObject* now) {
  const Py_ssize_t size = PyTuple_GET_SIZE(before);
  if (size != PyTuple_GET_SIZE(now) || stack_is_low()) return false;
  for (Py_ssize_t i = 0; i < size; ++i)
    if (!equal_constants(PyTuple_GET_ITEM(before, i), PyTuple_GET_ITEM(now, i))) return false;
  return true;
}

bool equal(PyObject* before, PyObject* now) {
  const int result = PyObject_RichCompareBool(before, now, Py_EQ);
  if (result < 0) PyErr_Clear();
  return result == 1;
}

/// A NaN equals only itself: containers compare their items by identity first, so programs can tell two NaNs apart.
bool same_bits(double before, double now) {
  return std::bit_cast<uint64_t>(before) == std::bit_cast<uint64_t>(now) && !std::isnan(before);
}

/// Compares the bounds: ranges with the same items are equal, but code can distinguish them.
bool same_ranges(PyObject* before, PyObject* now) {
  for (const char* name : {"start", "stop", "step"}) {
    const nb::object a = nb::steal(PyObject_GetAttrString(before, name));
    const nb::object b = nb::steal(PyObject_GetAttrString(now, name));
    if (!equal_constants(a.ptr(), b.ptr())) return false;
  }
  return true;
}

}  // namespace

bool is_constant(PyObject* value) {
  return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
         PyUnicode_CheckExact(value) || PyBytes_CheckExact(value) || PyComplex_CheckExact(value);
}

bool are_equal_constants(PyObject* before, PyObject* now) {
  if (!before || !now) return false;
  PyTypeObject* type = Py_TYPE(before);
  if (type != Py_TYPE(now)) return false;
  if (type == &PyFloat_Type) return same_bits(PyFloat_AS_DOUBLE(before), PyFloat_AS_DOUBLE(now));
  if (type == &PyComplex_Type) {
    const Py_complex a = PyComplex_AsCComplex(before);
    const Py_complex b = PyComplex_AsCComplex(now);
    return same_bits(a.real, b.real) && same_bits(a.imag, b.imag);
  }
  if (type == &PyLong_Type || type == &PyUnicode_Type || type == &PyBytes_Type) return equal(before, now);
  if (type == &PyRange_Type) return same_ranges(before, now);
  if (type == &PyTuple_Type) return same_items(before, now);
  if (type == &PyMethod_Type)
    return PyMethod_GET_SELF(before) == PyMethod_GET_SELF(now) &&
           PyMethod_GET_FUNCTION(before) == PyMethod_GET_FUNCTION(now);
  if (type == &PySlice_Type) {
    const auto* a = reinterpret_cast<PySliceObject*>(before);
    const auto* b = reinterpret_cast<PySliceObject*>(now);
    return equal_constants(a->start, b->start) && equal_constants(a->stop, b->stop) &&
           equal_constants(a->step, b->step);
  }
  if (type == &PyCFunction_Type) {
    const auto* a = reinterpret_cast<PyCFunctionObject*>(before);
    const auto* b = reinterpret_cast<PyCFunctionObject*>(now);
    return a->m_ml == b->m_ml && a->m_self == b->m_self;
  }
  return false;
}

std::string value_text(PyObject* value) {
  if (!value) return "missing";
  if (!is_constant(value)) return std::string("a ") + Py_TYPE(value)->tp_name;
  // PyObject_Repr would run signal handlers, whose exceptions would be lost here.
  PyObject* text = Py_TYPE(value)->tp_repr(value);
  const char* characters = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string result = characters ? characters : Py_TYPE(value)->tp_name;
  Py_XDECREF(text);
  PyErr_Clear();
  if (result.size() > kMaxText) {
    size_t end = kMaxText;
    while ((static_cast<unsigned char>(result[end]) & 0xC0) == 0x80) --end;
    result = result.substr(0, end) + "...";
  }
  return result;
}

std::string name_text(PyObject* name) {
  const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  if (text) return text;
  PyErr_Clear();
  return value_text(name);
}

}  // namespace lucid::python
