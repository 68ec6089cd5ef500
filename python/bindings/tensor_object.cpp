#include "bindings/tensor_object.h"

#include "base/error.h"
#include "bindings/autograd.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/from_data.h"
#include "bindings/operators.h"
#include "bindings/pure.h"
#include "bindings/subscripts.h"
#include "bindings/tensor_methods.h"
#include "tensor/autograd_meta.h"
#include "tensor/transfer.h"

namespace lucid::python {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* parameter_type = nullptr;

PyObject* new_object(PyTypeObject* type, TensorRef tensor) {
  PyObject* object = nb::inst_alloc(reinterpret_cast<PyObject*>(type)).release().ptr();
  if (!object) nb::detail::raise_python_error();
  if (type != tensor_type && parameter_type && PyType_IsSubtype(type, parameter_type)) tensor->set_parameter();
  new (nb::inst_ptr<TensorHandle>(object)) TensorHandle(std::move(tensor), object);
  nb::inst_mark_ready(object);
  return object;
}

nb::list tensor_list(std::span<const TensorRef> tensors) {
  nb::list list;
  for (const TensorRef& tensor : tensors) list.append(to_object(tensor));
  return list;
}

TensorImpl& expect_tensor(const char* function, PyObject* object) {
  if (TensorImpl* tensor = tensor_or_null(object)) return *tensor;
  throw TypeError("{}: expected a tensor, not {}", function, describe(object));
}

namespace {

/// Tensor(data, dtype=None, device=None, requires_grad=False): the same as lucid.tensor. Implemented in __new__, so
/// that every object holds a tensor even if a subclass does not call Tensor.__init__.
PyObject* tensor_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject* data = nullptr;
    PyObject* dtype = nullptr;
    PyObject* device = nullptr;
    int wants_grad = 0;
    // A subclass may add arguments of its own to __init__.
    if (type == tensor_type) {
      const char* names[] = {"data", "dtype", "device", "requires_grad", nullptr};
      if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OOOp:Tensor", const_cast<char**>(names), &data, &dtype,
                                       &device, &wants_grad))
        return nullptr;
    } else if (PyTuple_GET_SIZE(arguments) > 0) {
      data = PyTuple_GET_ITEM(arguments, 0);
    }
    // PyTorch's Tensor(5) is an uninitialized tensor of size 5, Tensor(2, 3) one of shape (2, 3).
    if (type == tensor_type && data && number_or_none({"Tensor", "data"}, data))
      throw TypeError(
          "Tensor: argument 'data' must be a list, an array or a tensor, not {}; use lucid.tensor for a number, "
          "lucid.empty or lucid.zeros for a shape",
          describe(data));
    const std::optional<Device> place = to_device_or_none("Tensor", device);
    const std::optional<Dtype> wanted = to_optional_dtype({"Tensor", "dtype"}, dtype);
    TensorRef tensor = data ? tensor_from_data({"Tensor", "data"}, data, wanted)
                            : make_tensor(wanted.value_or(default_float()), Dims{0});
    if (place) tensor = to_device(tensor, *place);
    if (wants_grad) set_requires_grad(*tensor, true);
    return new_object(type, std::move(tensor));
  });
}

int tensor_init(PyObject*, PyObject*, PyObject*) { return 0; }

}  // namespace

void bind_tensor(nb::module_& module) {
  prepare_operators();
  std::vector<PyType_Slot> slots = {{Py_tp_new, reinterpret_cast<void*>(tensor_new)},
                                    {Py_tp_init, reinterpret_cast<void*>(tensor_init)},
                                    {Py_tp_traverse, reinterpret_cast<void*>(traverse_tensor)},
                                    {Py_tp_methods, tensor_methods()},
                                    {Py_tp_getset, tensor_properties()}};
  for (const PyType_Slot* part : {operator_slots(), subscript_slots()})
    for (; part->slot != 0; ++part) slots.push_back(*part);
  slots.push_back({0, nullptr});
  auto type = nb::class_<TensorHandle>(module, "Tensor", nb::type_slots(slots.data()), nb::pooled(256),
                                       nb::is_weak_referenceable(),
                                       "Tensor(data=(), dtype=None, device=None, requires_grad=False)\n--\n\n"
                                       "An n-dimensional array of one dtype that records operations for gradients.");
  tensor_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  declare_pure(module, type);
  // Tensor operators take precedence over NumPy's: array + tensor is a Tensor.
  type.attr("__array_priority__") = 1000;
  type.attr("__module__") = "lucid";
}

}  // namespace lucid::python
