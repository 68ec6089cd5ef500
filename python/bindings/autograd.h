#pragma once

#include "bindings/errors.h"
#include "tensor/node.h"

namespace lucid::python {

/// tp_traverse of Tensor. Visits the hooks that only this tensor owns, so that a cycle through a hook that refers to
/// its own tensor can be collected.
int traverse_tensor(PyObject* self, visitproc visit, void* arg);

/// Appends the Python objects that copies of a node share with it, each as (description, object): hooks, and the
/// attributes that a custom function stored in ctx.
void list_shared_objects(const GradNode& node, nb::list& objects);

/// The Python functions of gradient hooks on a leaf, in order of registration.
nb::list gradient_hook_functions(const TensorImpl& tensor);

/// Modes, backward passes, hooks and custom functions, for lucid.autograd.
void bind_autograd(nb::module_& module);

}  // namespace lucid::python
