#pragma once

#include <Python.h>

#include "bindings/errors.h"
#include "tensor/random.h"

namespace lucid::python {

/// The contents of Python's `lucid.Generator`.
struct GeneratorHandle {
  Ref<GeneratorImpl> generator;
};

/// The generator passed as an argument; the default one for null and None. Throws TypeError naming the function.
GeneratorImpl& generator_or_default(const char* function, PyObject* object);

void bind_random(nb::module_& module);

}  // namespace lucid::python
