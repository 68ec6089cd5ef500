#pragma once

#include "bindings/errors.h"

namespace lucid::python {

/// Shows the garbage collector the hooks that only this tensor holds, so that a hook that refers to its own tensor is
/// freed.
int traverse_tensor(PyObject* self, visitproc visit, void* arg);

/// Modes, backward passes, hooks and custom functions, for lucid.autograd.
void bind_autograd(nb::module_& module);

}  // namespace lucid::python
