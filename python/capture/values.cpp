#include "capture/values.h"

#include <bit>
#include <cstdint>

namespace lucid::python {
namespace {

constexpr size_t kLongestText = 60;

bool same_items(PyObject* before, PyObject* now) {
  const Py_ssize_t size = PyTuple_GET_SIZE(before);
  if (size != PyTuple_GET_SIZE(now)) return false;
  for (Py_ssize_t i = 0; i < size; ++i)
    if (!same(PyTuple_GET_ITEM(before, i), PyTuple_GET_ITEM(now, i))) return false;
  return true;
}

bool equal(PyObject* before, PyObject* now) {
  const int result = PyObject_RichCompareBool(before, now, Py_EQ);
  if (result < 0) PyErr_Clear();
  return result == 1;
}

bool same_bits(double before, double now) { return std::bit_cast<uint64_t>(before) == std::bit_cast<uint64_t>(now); }

/// Ranges with the same items are equal although code can tell them apart.
bool same_ranges(PyObject* before, PyObject* now) {
  for (const char* name : {"start", "stop", "step"}) {
    const nb::object a = nb::steal(PyObject_GetAttrString(before, name));
    const nb::object b = nb::steal(PyObject_GetAttrString(now, name));
    if (!same(a.ptr(), b.ptr())) return false;
  }
  return true;
}

bool is_plain(PyObject* value) {
  return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
         PyUnicode_CheckExact(value) || PyBytes_CheckExact(value) || PyComplex_CheckExact(value);
}

}  // namespace

bool same(PyObject* before, PyObject* now) {
  if (before == now) return true;
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
    return same(a->start, b->start) && same(a->stop, b->stop) && same(a->step, b->step);
  }
  if (type == &PyCFunction_Type) {
    const auto* a = reinterpret_cast<PyCFunctionObject*>(before);
    const auto* b = reinterpret_cast<PyCFunctionObject*>(now);
    return a->m_ml == b->m_ml && a->m_self == b->m_self;
  }
  return false;
}

std::string words_of(PyObject* value) {
  if (!value) return "missing";
  if (!is_plain(value)) return std::string("a ") + Py_TYPE(value)->tp_name;
  PyObject* text = PyObject_Repr(value);
  const char* characters = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string words = characters ? characters : Py_TYPE(value)->tp_name;
  Py_XDECREF(text);
  PyErr_Clear();
  if (words.size() > kLongestText) {
    size_t end = kLongestText;
    while ((static_cast<unsigned char>(words[end]) & 0xC0) == 0x80) --end;
    words = words.substr(0, end) + "...";
  }
  return words;
}

}  // namespace lucid::python
