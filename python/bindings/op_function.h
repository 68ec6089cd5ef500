#pragma once

#include <Python.h>

#include "bindings/errors.h"
#include "ir/op.h"

namespace lucid::python {

/// The Python forms of an op.
enum class OpForm {
  kFunction,  // lucid.add
  kMethod,    // Tensor.add
  kInPlace,   // Tensor.add_
  kRandom,    // takes a generator instead of a generator state
};

/// Creates a callable for an op of the table.
PyObject* make_op_function(const Op& op, OpForm form);

/// Converts the results of an op to Python: a tensor, a named tuple, or a tuple.
PyObject* results_to_python(const Op& op, Values results);

/// Adds the op methods of Tensor, `_core.ops` (the functions of all ops by name), `_core.random_ops` (the random ops,
/// which take a generator), and lists of names: `public_ops`, `factories`, `inplace_functions`, and `alpha_functions`,
/// which take `alpha`.
void bind_ops(nb::module_& module);
void bind_op_table(nb::module_& module);

}  // namespace lucid::python
