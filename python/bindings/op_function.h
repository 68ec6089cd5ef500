#pragma once

#include <Python.h>

#include "bindings/errors.h"
#include "ir/op.h"

namespace lucid::python {

/// How an op is offered to Python.
enum class OpForm {
  kFunction,  // lucid.add
  kMethod,    // Tensor.add: binds to the tensor before the dot
  kInPlace,   // Tensor.add_
  kDraw,      // draws from a generator instead of a state that is passed
};

/// A new callable for an op of the table.
PyObject* make_op_function(const Op& op, OpForm form);

/// The results of an op as Python has them: a tensor, a named tuple, or a tuple.
PyObject* results_to_python(const Op& op, Values results);

/// The methods of Tensor and what Names says of the ops: `_core.ops`, the functions of all by name; `_core.draws`,
/// those that draw from a generator; the names `public_ops`, `factories` and `inplace_functions`.
void bind_ops(nb::module_& module);
void bind_op_table(nb::module_& module);

}  // namespace lucid::python
