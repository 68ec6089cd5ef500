#pragma once

#include <Python.h>

#include <optional>

#include "bindings/convert.h"
#include "bindings/numpy.h"

namespace lucid::python {

/// Creates a tensor with a copy of the data: a number, nested lists of numbers, an array, a tensor, or lists of arrays
/// and tensors. Without a dtype, floats become the default float, ints i64 and bools bool; arrays and tensors keep
/// their dtype. Throws ValueError with the position for lists of unequal lengths, TypeError for elements that are not
/// numbers, OverflowError for integers that do not fit.
TensorRef tensor_from_data(const ArgumentContext& context, PyObject* data, std::optional<Dtype> dtype);

/// Whether an object is an array: of NumPy, a buffer, a tensor of another library, a DataFrame. False for tensors and
/// for NumPy's scalars.
bool is_any_array(PyObject* object);
/// Creates a tensor with the elements of an array of any library: of NumPy or a buffer, a tensor of PyTorch or JAX, a
/// DataFrame. Null for other objects, and for tensors and NumPy's scalars.
TensorRef tensor_from_array(const ArgumentContext& context, PyObject* object, Sharing sharing);

/// The elements as Python numbers in nested lists; a number for a 0-d tensor.
PyObject* to_list(const TensorImpl& tensor);

/// Throws OverflowError if an integer is out of range for the dtype.
void check_fits(const ArgumentContext& context, const Scalar& value, Dtype dtype);

}  // namespace lucid::python
