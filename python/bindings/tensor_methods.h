#pragma once

#include <Python.h>

#include "bindings/errors.h"

namespace lucid::python {

/// Methods of Tensor that are not ops of the table; ends with an empty entry.
PyMethodDef* tensor_methods();
/// Attributes of Tensor; ends with an empty entry.
PyGetSetDef* tensor_properties();

}  // namespace lucid::python
