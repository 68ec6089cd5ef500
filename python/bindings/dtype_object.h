#pragma once

#include <Python.h>

#include <optional>

#include "base/dtype.h"
#include "bindings/errors.h"

namespace lucid::python {

/// The one `lucid.dtype` object of a dtype. Borrowed.
PyObject* dtype_object(Dtype dtype);
/// The dtype in a `lucid.dtype`; nothing for other objects.
std::optional<Dtype> dtype_in(PyObject* object);
/// "float32", as Python spells it.
const char* long_name_of(Dtype dtype);

/// The one `lucid.device` object. Borrowed.
PyObject* device_object();
/// A `lucid.device`, None or the name of one. Throws ValueError, listing the devices there are.
void check_device(const char* function, PyObject* object);
bool is_device(PyObject* object);

void bind_dtypes(nb::module_& module);

}  // namespace lucid::python
