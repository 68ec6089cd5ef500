#pragma once

#include <Python.h>

#include <optional>

#include "base/device.h"
#include "base/dtype.h"
#include "bindings/errors.h"

namespace lucid::python {

/// The unique `lucid.dtype` object of a dtype. Borrowed.
PyObject* dtype_object(Dtype dtype);
/// The dtype of a `lucid.dtype` object; nullopt for other objects.
std::optional<Dtype> dtype_in(PyObject* object);

/// The unique `lucid.device` object of a device. Borrowed.
PyObject* device_object(Device device);
/// The device of a `lucid.device` object; nullopt for other objects.
std::optional<Device> device_in(PyObject* object);
/// Accepts a `lucid.device` or the name of a device; nullopt for None and null. Throws ValueError with the list of
/// devices if there is none of that name.
std::optional<Device> to_device_or_none(const char* function, PyObject* object);

void bind_dtypes(nb::module_& module);

}  // namespace lucid::python
