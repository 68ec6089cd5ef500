#pragma once

#include "bindings/errors.h"

namespace lucid::python {

/// Modes, backward passes, hooks and custom functions, for lucid.autograd.
void bind_autograd(nb::module_& module);

}  // namespace lucid::python
