#pragma once

#include "bindings/errors.h"
#include "ir/schema.h"

namespace lucid::python {

/// An op's attribute as Python's value.
nb::object from_attribute(const Attribute& attribute);

}  // namespace lucid::python
