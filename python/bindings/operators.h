#pragma once

#include <Python.h>

namespace lucid::python {

/// The number protocol and comparisons of Tensor, for its type slots; ends with an empty slot.
const PyType_Slot* operator_slots();

/// Looks up the ops of the operators.
void prepare_operators();

}  // namespace lucid::python
