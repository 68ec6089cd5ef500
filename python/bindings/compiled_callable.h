#pragma once

#include "bindings/errors.h"

namespace lucid::python {

/// `_core.CompiledCallable`: a callable that runs a plan where one fits, and records the call otherwise.
void bind_compiled_callable(nb::module_& module);

}  // namespace lucid::python
