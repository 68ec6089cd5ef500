#pragma once

#include <Python.h>

#include "base/ref_list.h"
#include "base/small_vector.h"
#include "jit/call_key.h"

namespace lucid::python {

/// The arguments of a call taken apart: the tensors in them, in order, and the key of everything that a plan depends
/// on.
struct Flattened {
  jit::CallKey key;
  /// Held: another thread may take them out of a list, and a property may have made them for this call.
  RefList<TensorImpl, 8> held;
  /// Classes that the key names by address: whoever keeps the key keeps them.
  SmallVector<PyObject*, 4> classes;
  /// How many containers what is being added lies in.
  int depth = 0;

  std::span<TensorImpl* const> tensors() const { return held.pointers(); }
};

/// Adds a call's arguments, positional ones first. Lists, tuples, dicts, named tuples and dataclasses are taken apart.
/// Of other objects only the class is noted: what the call reads of them is guarded elsewhere.
void flatten_call(PyObject* const* values, Py_ssize_t count, PyObject* keyword_names, Flattened& result);

}  // namespace lucid::python
