#pragma once

#include <Python.h>

#include <optional>

#include "bindings/convert.h"

namespace lucid::python {

// NumPy is never imported before somebody asks for an array: importing it takes longer than importing all of Lucid.

enum class NumpyScalar { kNone, kBool, kInteger, kFloat };
/// Which kind of number a NumPy scalar is. kNone for other objects, complex numbers among them.
NumpyScalar numpy_scalar_kind(PyObject* object);

/// A NumPy dtype or scalar type. Nothing for other objects; throws TypeError for those that have no counterpart here.
std::optional<Dtype> numpy_dtype_in(const Place& place, PyObject* object);

/// Whether an object shows its memory through the buffer protocol, as NumPy arrays do. Not for bytes.
bool is_array(PyObject* object);

enum class Sharing { kNever, kIfPossible };
/// A tensor with the elements of an array. Its memory is shared if it is asked for, writable, and laid out in a way
/// that tensors know; otherwise it is copied.
TensorRef tensor_from_buffer(const Place& place, PyObject* object, Sharing sharing);

/// The buffer protocol of Tensor: a read-only view of what it holds now. Later writes to the tensor leave it as it is.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

}  // namespace lucid::python
