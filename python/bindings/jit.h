#pragma once

#include "bindings/errors.h"

namespace lucid::python {

/// What lucid.compiler records calls with and runs instead of them.
void bind_jit(nb::module_& module);

}  // namespace lucid::python
