#pragma once

#include <Python.h>

#include <span>
#include <string>
#include <vector>

#include "base/ref_list.h"
#include "base/small_vector.h"
#include "jit/call_key.h"

namespace lucid::python {

/// The flattened arguments of a call: their tensors, in order, and the key of everything that a plan depends on.
struct Flattened {
  jit::CallKey key;
  /// Owning: another thread may remove a tensor from a list, and a property may have created one for this call.
  RefList<TensorImpl, 8> held;
  /// Classes that the key identifies by address. The owner of the key must keep them alive.
  SmallVector<PyObject*, 4> classes;
  /// Nesting depth of the argument being flattened.
  int depth = 0;
  /// The containers among the arguments, in order.
  SmallVector<PyObject*, 8> containers;
  /// Whether some arguments are nested too deeply to be compared, or contain themselves. The call runs eagerly.
  bool is_too_deep = false;

  std::span<TensorImpl* const> tensors() const { return held.pointers(); }
};

/// Flattens the arguments of a call, positional ones first. Recurses into lists, tuples, dicts, named tuples and
/// dataclasses. Other objects contribute only their class: the guards check the attributes that the call reads.
void flatten_call(PyObject* const* values, Py_ssize_t count, PyObject* keyword_names, Flattened& result);

/// An argument that is an int or a float, or a tensor in an argument, and its positions among the numbers of the key:
/// that of its value, or those of its sizes, then of its strides.
struct NumberArgument {
  size_t argument;
  uint32_t position;
  /// Null for an int or a float.
  TensorImpl* tensor;
};
/// Finds these among the arguments of a call, which are the first `count` values. Tensors may be items of lists, tuples
/// and dicts.
std::vector<NumberArgument> number_arguments(PyObject* const* values, size_t count);

/// Says which of the named arguments differs, given the numbers in the keys of two calls with the same structure.
/// `values` are the arguments of the first.
std::string differing_argument(PyObject* const* values, const std::vector<std::string>& names,
                               std::span<const int64_t> numbers, std::span<const int64_t> others);

}  // namespace lucid::python
