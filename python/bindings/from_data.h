#pragma once

#include <Python.h>

#include <optional>

#include "bindings/convert.h"

namespace lucid::python {

/// A new tensor with a copy of the data: a number, a list of lists of them, an array, a tensor, or lists of these.
/// Without a dtype, floats become the default float, ints i64 and bools bool; arrays and tensors keep theirs. Throws
/// ValueError with the position for lists of unequal lengths, TypeError for what is no number, OverflowError for
/// integers that do not fit.
TensorRef tensor_from_data(const Place& place, PyObject* data, std::optional<Dtype> dtype);

/// The elements as Python numbers in nested lists; a number for a 0-d tensor.
PyObject* to_list(const TensorImpl& tensor);

/// Throws OverflowError when an integer is not among those that a dtype has.
void check_fits(const Place& place, const Scalar& value, Dtype dtype);

}  // namespace lucid::python
