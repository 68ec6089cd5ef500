#pragma once

#include <Python.h>

#include <span>
#include <string>
#include <vector>

#include "base/ref_list.h"
#include "bindings/errors.h"
#include "jit/call_key.h"

namespace lucid::python {

/// Inputs of a plan that are not arguments: tensors that a call finds in attributes and items.
using Inputs = RefList<TensorImpl, 4>;

/// The type of an input. Later calls may find another tensor of the same type there.
class InputType {
 public:
  InputType() = default;
  /// Of a tensor that is an object of a class: Tensor, or one that derives from it.
  InputType(const TensorImpl& tensor, PyTypeObject* cls);

  /// The tensor that an object is; null if it is none of this type, or has attributes.
  TensorImpl* match(PyObject* object) const;
  /// "f32[2,3]", and the same for another object, for messages.
  const std::string& text() const { return text_; }
  static std::string text_of(PyObject* object);

 private:
  jit::CallKey key_;
  std::string text_;
  nb::object class_;
};

/// Which of the arguments and inputs of a recorded call are one tensor.
class InputIdentity {
 public:
  void set(std::span<TensorImpl* const> arguments, std::span<TensorImpl* const> inputs);
  /// Whether the same ones are in another call.
  bool holds(std::span<TensorImpl* const> arguments, std::span<TensorImpl* const> inputs) const;

 private:
  /// For each input, the first of the arguments and inputs, counted together, that is the same tensor.
  std::vector<size_t> first_;
};

}  // namespace lucid::python
