#pragma once

#include <Python.h>

namespace lucid::python {

/// Indexing, length, iteration and membership of Tensor, for its type slots; ends with an empty slot.
const PyType_Slot* subscript_slots();

}  // namespace lucid::python
