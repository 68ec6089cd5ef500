#pragma once

#include <Python.h>

#include <optional>
#include <string>
#include <vector>

#include "base/scalar.h"
#include "bindings/tensor_object.h"
#include "ir/value.h"

namespace lucid::python {

/// Names an argument in error messages: "sum: argument 'dim' must be an integer or a sequence of integers, not a str".
struct ArgumentContext {
  const char* function;
  const char* argument;

  /// Throws TypeError.
  [[noreturn]] void fail(const char* expected, PyObject* got) const;
};

/// The description of an object in messages: "a str", "None", "an int".
std::string describe(PyObject* object);

/// Whether an object is a str, bytes or bytearray: a sequence, but never a list of numbers or tensors.
bool is_text(PyObject* object);

// Numbers.

/// The class of the numbers that a call is given while it is traced (lucid/compiler/_numbers.py).
extern PyTypeObject* traced_number_type;

/// Accepts a Python bool, int or float, a traced number, or a NumPy scalar. Throws OverflowError for integers of more
/// than 64 bits.
std::optional<Scalar> number_or_none(const ArgumentContext& context, PyObject* object);
/// Accepts any object with __index__ except bools.
SymInt to_int(const ArgumentContext& context, PyObject* object);
double to_double(const ArgumentContext& context, PyObject* object);
bool to_bool(const ArgumentContext& context, PyObject* object);
/// Accepts one integer or a sequence of integers.
Dims to_ints(const ArgumentContext& context, PyObject* object);
Dims to_ints(const ArgumentContext& context, PyObject* const* objects, Py_ssize_t count);
/// A tuple. Traced sizes stay traced.
PyObject* from_ints(DimsView values);
/// A tuple of plain ints.
nb::object read_ints(DimsView values);
PyObject* from_scalar(const Scalar& value);

// Dtypes.

/// Accepts a lucid.dtype, a name, a NumPy dtype, or the Python types float, int and bool.
Dtype to_dtype(const ArgumentContext& context, PyObject* object);
std::optional<Dtype> to_optional_dtype(const ArgumentContext& context, PyObject* object);

// Tensors.

/// Owns the tensors that a call's operands borrow: those created from arrays or lists.
using Held = std::vector<TensorRef>;

/// Converts an operand of an operator: a tensor, a number or an array. Returns false for other objects, without an
/// error.
bool to_operand(const ArgumentContext& context, PyObject* object, Operand& operand, Held& held);
/// Converts an argument of a function: a tensor, a number, an array, or a list of numbers. Throws TypeError for other
/// objects.
Operand expect_operand(const ArgumentContext& context, PyObject* object, Held& held);

/// The common cases of to_operand(): an exact Tensor, float or int. Returns false for everything else.
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
