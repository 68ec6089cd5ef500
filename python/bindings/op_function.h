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

/// Whether users may call an op by name. The others are parts that composites of the table are made of.
bool is_public(const Op& op);
/// Whether the op draws random numbers: its first parameter is a generator's state.
bool is_random(const Op& op);
/// Whether the op makes tensors for users to start from: then it also takes `device` and `requires_grad`.
bool is_factory(const Op& op);
bool has_method(const Op& op);
bool has_in_place_method(const Op& op);

/// The results of an op as Python has them: a tensor, a named tuple, or a tuple.
PyObject* results_to_python(const Op& op, Values results);

/// `_core.ops`: the functions of all ops by name; `_core.draws`: those that draw from a generator; and the methods of
/// Tensor.
void bind_ops(nb::module_& module);
void bind_op_table(nb::module_& module);

}  // namespace lucid::python
