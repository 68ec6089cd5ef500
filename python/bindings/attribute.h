#pragma once

#include "bindings/errors.h"
#include "ir/schema.h"

namespace lucid::python {

/// Converts an op's attribute to a Python object.
nb::object from_attribute(const Attribute& attribute);

}  // namespace lucid::python
