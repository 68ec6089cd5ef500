#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/tensor_methods.h"
#include "tensor/autograd_meta.h"
#include "tensor/eager.h"
#include "tensor/observer.h"

namespace lucid::python {
namespace {

PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return from_ints(tensor_in(self).sizes()); });
}
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromSize_t(tensor_in(self).sizes().size()); }
PyObject* get_dtype(PyObject* self, void*) { return Py_NewRef(dtype_object(tensor_in(self).dtype())); }
PyObject* get_device(PyObject* self, void*) {
  return guarded([&] { return Py_NewRef(device_object(tensor_in(self).device())); });
}
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromSize_t(size_of(tensor_in(self).dtype())); }
PyObject* get_nbytes(PyObject* self, void*) {
  const TensorImpl& tensor = tensor_in(self);
  return PyLong_FromLongLong(tensor.numel() * static_cast<int64_t>(size_of(tensor.dtype())));
}

PyObject* get_transposed(PyObject* self, void*) {
  return guarded([&] {
    TensorImpl& tensor = tensor_in(self);
    Dims order;
    for (int64_t d = tensor.sizes().rank(); d-- > 0;) order.push_back(d);
    return to_python(eager().permute(Operand(&tensor), order));
  });
}

PyObject* get_matrix_transposed(PyObject* self, void*) {
  return guarded([&] {
    TensorImpl& tensor = tensor_in(self);
    if (tensor.sizes().rank() < 2)
      throw RuntimeError("mT: the tensor must have at least 2 dimensions, got {}", to_string(tensor.type()));
    return to_python(eager().transpose(Operand(&tensor), -2, -1));
  });
}

PyObject* get_requires_grad(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(requires_grad(tensor_in(self))); });
}

int set_requires_grad_property(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    if (!value) throw TypeError("requires_grad cannot be deleted");
    set_requires_grad(tensor_in(self), to_bool({"requires_grad", "value"}, value));
    return 0;
  });
}

PyObject* get_is_leaf(PyObject* self, void*) {
  return guarded([&] {
    on_inspection(tensor_in(self), "reads is_leaf of a tensor");
    return PyBool_FromLong(is_leaf(tensor_in(self)));
  });
}

PyObject* get_retains_grad(PyObject* self, void*) {
  return guarded([&] {
    on_inspection(tensor_in(self), "reads retains_grad of a tensor");
    return PyBool_FromLong(retains_grad(tensor_in(self)));
  });
}

PyObject* get_grad(PyObject* self, void*) {
  return guarded([&] { return to_python_or_none(gradient(tensor_in(self))); });
}

int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    if (!value || value == Py_None)
      set_gradient(tensor_in(self), nullptr);
    else
      set_gradient(tensor_in(self), TensorRef(&expect_tensor("grad", value)));
    return 0;
  });
}

PyObject* get_data(PyObject* self, void*) {
  return guarded([&] { return to_python(detach(tensor_in(self))); });
}

int assign_data(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    if (!value) throw TypeError("data cannot be deleted");
    set_data(tensor_in(self), expect_tensor("data", value));
    return 0;
  });
}

PyObject* get_is_view(PyObject* self, void*) {
  return guarded([&] {
    on_inspection(tensor_in(self), "reads whether a tensor is a view");
    return PyBool_FromLong(tensor_in(self).is_view());
  });
}

/// The node that computed the tensor, as `_core.Node`, or None.
PyObject* get_grad_fn(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    on_inspection(tensor_in(self), "reads grad_fn of a tensor");
    const Edge edge = gradient_node(tensor_in(self));
    if (!edge) return Py_NewRef(Py_None);
    return nb::cast(edge).release().ptr();
  });
}

}  // namespace

PyGetSetDef* tensor_properties() {
  static PyGetSetDef properties[] = {
      {"shape", get_shape, nullptr, "The size of each dimension, as a tuple.", nullptr},
      {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
      {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
      {"device", get_device, nullptr, "The device that holds the memory.", nullptr},
      {"itemsize", get_itemsize, nullptr, "The size of an element in bytes.", nullptr},
      {"nbytes", get_nbytes, nullptr, "The size of all elements in bytes.", nullptr},
      {"T", get_transposed, nullptr, "The tensor with its dimensions in reverse order; a view.", nullptr},
      {"mT", get_matrix_transposed, nullptr, "The tensor with its last two dimensions swapped; a view.", nullptr},
      {"requires_grad", get_requires_grad, set_requires_grad_property,
       "Whether operations on the tensor are recorded for gradients.", nullptr},
      {"is_leaf", get_is_leaf, nullptr, "Whether the tensor is not the result of a recorded operation.", nullptr},
      {"retains_grad", get_retains_grad, nullptr, "Whether the tensor is a non-leaf that stores its gradient.",
       nullptr},
      {"grad", get_grad, set_grad, "The gradient that backward() accumulated, or None.", nullptr},
      {"grad_fn", get_grad_fn, nullptr, "The recorded operation that computed the tensor, or None.", nullptr},
      {"data", get_data, assign_data,
       "The tensor without its gradient graph, sharing memory. Assigning makes the tensor use other memory.", nullptr},
      {"_is_view", get_is_view, nullptr, "Whether the tensor is a view of another tensor.", nullptr},
      {}};
  return properties;
}

}  // namespace lucid::python
