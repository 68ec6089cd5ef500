#pragma once

#include <Python.h>

#include <optional>

#include "bindings/convert.h"

namespace lucid::python {

// NumPy is imported only when an array is requested: importing it takes longer than importing Lucid.

enum class NumpyScalar { kNone, kBool, kInteger, kFloat };
/// The kind of a NumPy scalar. kNone for other objects, including complex numbers.
NumpyScalar numpy_scalar_kind(PyObject* object);

/// The dtype of a NumPy dtype or scalar type; nullopt for other objects. Throws TypeError for NumPy dtypes that Lucid
/// does not support.
std::optional<Dtype> numpy_dtype_in(const ArgumentContext& context, PyObject* object);

/// Whether an object supports the buffer protocol, as NumPy arrays do. False for bytes and bytearray.
bool is_array(PyObject* object);

/// Whether an array's memory is that of an mmap object. The file that it maps may also be mapped elsewhere.
bool is_mapped(PyObject* array);

enum class Sharing { kNever, kIfPossible };
/// Creates a tensor with the elements of an array. Shares the memory if `sharing` allows it and the array is writable
/// and has a layout that tensors support; copies it otherwise.
TensorRef tensor_from_buffer(const ArgumentContext& context, PyObject* object, Sharing sharing);

/// The buffer protocol of Tensor: a read-only view of its current values. Later writes to the tensor do not change the
/// view.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

}  // namespace lucid::python
