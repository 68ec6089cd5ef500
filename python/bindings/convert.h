#pragma once

#include <Python.h>

#include <optional>
#include <string>
#include <vector>

#include "base/scalar.h"
#include "bindings/tensor_object.h"
#include "ir/value.h"

namespace lucid::python {

/// Where a value was found, for messages: "sum: argument 'dim' must be an integer or several, not a str".
struct Place {
  const char* function;
  const char* argument;

  /// Throws TypeError.
  [[noreturn]] void fail(const char* expected, PyObject* got) const;
};

/// "a str", "None", "an int": what messages call an object.
std::string describe(PyObject* object);

/// Whether an object is a string or bytes, which are sequences but never lists of numbers or tensors.
bool is_text(PyObject* object);

// Numbers.

/// Python's bool, int and float, and NumPy's scalars. Throws OverflowError for integers of more than 64 bits.
std::optional<Scalar> number_or_none(const Place& place, PyObject* object);
/// Anything with __index__, but no bool.
int64_t to_int(const Place& place, PyObject* object);
double to_double(const Place& place, PyObject* object);
bool to_bool(const Place& place, PyObject* object);
/// One integer or a sequence of them.
Dims to_ints(const Place& place, PyObject* object);
Dims to_ints(const Place& place, PyObject* const* objects, Py_ssize_t count);
PyObject* from_ints(DimsView values);
PyObject* from_scalar(const Scalar& value);

// Dtypes.

/// A lucid.dtype, a name, a NumPy dtype, or Python's float, int or bool.
Dtype to_dtype(const Place& place, PyObject* object);
std::optional<Dtype> to_optional_dtype(const Place& place, PyObject* object);

// Tensors.

/// Holds what a call's operands borrow: tensors that were made from arrays or lists.
using Held = std::vector<TensorRef>;

/// What operators take: a tensor, a number or an array. False for anything else, without an error.
bool to_operand(const Place& place, PyObject* object, Operand& operand, Held& held);
/// What functions take: the same, and lists of numbers. Throws TypeError for anything else.
Operand expect_operand(const Place& place, PyObject* object, Held& held);

inline bool to_operand_fast(PyObject* object, Operand& operand) {
  if (Py_TYPE(object) == tensor_type) {
    operand = Operand(nb::inst_ptr<TensorHandle>(object)->impl.get());
    return true;
  }
  if (PyFloat_CheckExact(object)) {
    operand = Operand(PyFloat_AS_DOUBLE(object));
    return true;
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    operand = Operand(static_cast<int64_t>(value));
    return overflow == 0;
  }
  return false;
}

}  // namespace lucid::python
