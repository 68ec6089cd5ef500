#pragma once

#include <nanobind/nanobind.h>

#include <span>

#include "bindings/errors.h"
#include "tensor/tensor_impl.h"

namespace lucid::python {

/// The contents of a Python Tensor. The tensor points back to its Python object, so that `x.grad is x.grad`: while the
/// object is alive, the same tensor converts to the same object.
struct TensorHandle {
  TensorHandle(TensorRef tensor, PyObject* object) : impl(std::move(tensor)), object(object) {
    impl->python_object = object;
  }
  TensorHandle(const TensorHandle&) = delete;
  TensorHandle& operator=(const TensorHandle&) = delete;
  ~TensorHandle() {
    if (impl->python_object == object) impl->python_object = nullptr;
  }

  TensorRef impl;
  PyObject* object;
};

/// The class `lucid.Tensor`.
extern PyTypeObject* tensor_type;

/// The class `lucid.nn.Parameter`. Null until lucid.nn is imported.
extern PyTypeObject* parameter_type;

/// The tensor of a Python object, or null if it is not a Tensor. Borrowed.
inline TensorImpl* tensor_or_null(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type != tensor_type && !PyType_IsSubtype(type, tensor_type)) return nullptr;
  return nb::inst_ptr<TensorHandle>(object)->impl.get();
}

/// The tensor of an object that is known to be a Tensor, for example `self`.
inline TensorImpl& tensor_in(PyObject* object) { return *nb::inst_ptr<TensorHandle>(object)->impl; }

/// Creates the Python object of a tensor that has none, as an instance of the given subclass of Tensor.
PyObject* new_object(PyTypeObject* type, TensorRef tensor);

/// The Python object of a tensor, as a new reference. Creates it if the tensor has none. Never null.
inline PyObject* to_python(TensorRef tensor) {
  // An object that is being destroyed must not be revived.
  if (auto* object = static_cast<PyObject*>(tensor->python_object); object && Py_REFCNT(object) > 0)
    return Py_NewRef(object);
  PyTypeObject* type = tensor->is_parameter() && parameter_type ? parameter_type : tensor_type;
  return new_object(type, std::move(tensor));
}
inline PyObject* to_python(const Value& value) { return to_python(TensorRef(tensor_of(value))); }
/// Returns None for null.
inline PyObject* to_python_or_none(TensorRef tensor) {
  return tensor ? to_python(std::move(tensor)) : Py_NewRef(Py_None);
}
inline nb::object to_object(TensorRef tensor) { return nb::steal(to_python_or_none(std::move(tensor))); }

nb::list tensor_list(std::span<const TensorRef> tensors);

/// Converts an argument that must be a tensor. Throws TypeError naming the function.
TensorImpl& expect_tensor(const char* function, PyObject* object);

/// Creates the class with its methods and properties.
void bind_tensor(nb::module_& module);

}  // namespace lucid::python
