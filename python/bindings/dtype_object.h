#pragma once

#include <Python.h>

#include <optional>

#include "base/dtype.h"
#include "bindings/errors.h"

namespace lucid::python {

/// The unique `lucid.dtype` object of a dtype. Borrowed.
PyObject* dtype_object(Dtype dtype);
/// The dtype of a `lucid.dtype` object; nullopt for other objects.
std::optional<Dtype> dtype_in(PyObject* object);
/// The dtype's name in Python: "float32".
const char* long_name_of(Dtype dtype);

/// The only `lucid.device` object. Borrowed.
PyObject* device_object();
/// Accepts a `lucid.device`, None or the name of a device. Throws ValueError with the list of devices for unknown
/// names.
void check_device(const char* function, PyObject* object);
bool is_device(PyObject* object);

void bind_dtypes(nb::module_& module);

}  // namespace lucid::python
