#pragma once

#include "bindings/errors.h"

namespace lucid::python {

extern PyTypeObject* compiled_callable_type;

/// `_core.CompiledCallable`: a callable that runs a matching plan if there is one, and records the call otherwise.
void bind_compiled_callable(nb::module_& module);

}  // namespace lucid::python
