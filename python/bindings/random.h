#pragma once

#include <Python.h>

#include "bindings/errors.h"
#include "tensor/random.h"

namespace lucid::python {

/// What Python's `lucid.Generator` holds.
struct GeneratorHandle {
  Ref<Generator> generator;
};

/// The generator that an argument names, the default one for null. Throws TypeError naming the function.
Generator& generator_or_default(const char* function, PyObject* object);

void bind_random(nb::module_& module);

}  // namespace lucid::python
