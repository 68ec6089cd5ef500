#pragma once

#include "bindings/errors.h"
#include "tensor/node.h"

namespace lucid::python {

/// Shows the garbage collector the hooks that only this tensor holds, so that a hook that refers to its own tensor is
/// freed.
int traverse_tensor(PyObject* self, visitproc visit, void* arg);

/// Adds Python's objects that copies of a node share with it, each as (what it is, the object): hooks, and what a
/// custom function put into ctx.
void list_kept(const GradNode& node, nb::list& kept);

/// Modes, backward passes, hooks and custom functions, for lucid.autograd.
void bind_autograd(nb::module_& module);

}  // namespace lucid::python
