#pragma once

#include <optional>

#include "bindings/errors.h"
#include "lucid/sym_int.h"

namespace lucid::python {

/// The class of the sizes that Python code gets while a call is recorded with traced sizes: `_core.TracedSize`. One
/// acts like an int. It notes what is computed from it, and what code finds out about it.
extern PyTypeObject* traced_size_type;

/// An int, or a TracedSize if the number is traced on this thread.
PyObject* from_dim(SymInt dim);
/// The traced number that an object is; empty if it is none.
std::optional<SymInt> traced_size_in(PyObject* object);

void bind_traced_size(nb::module_& module);

}  // namespace lucid::python
