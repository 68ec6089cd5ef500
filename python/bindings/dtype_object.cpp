// lucid.dtype and lucid.device. Their objects live as long as the process.

#include "bindings/dtype_object.h"

#include <structmember.h>

#include <limits>

#include "bindings/convert.h"
#include "bindings/pure.h"

namespace lucid::python {
namespace {

struct DtypeObject {
  PyObject ob_base;
  Dtype dtype;
};

PyTypeObject* dtype_type = nullptr;
PyTypeObject* device_type = nullptr;
PyObject* dtype_objects[kDtypeCount] = {};
PyObject* the_device = nullptr;

constexpr const char* kLongNames[kDtypeCount] = {"bool",  "uint8",   "int8",     "int16",   "int32",
                                                 "int64", "float16", "bfloat16", "float32", "float64"};

Dtype dtype_of_self(PyObject* self) { return reinterpret_cast<DtypeObject*>(self)->dtype; }

PyObject* dtype_repr(PyObject* self) { return PyUnicode_FromFormat("lucid.%s", long_name_of(dtype_of_self(self))); }

PyObject* dtype_str(PyObject* self) { return PyUnicode_FromString(long_name_of(dtype_of_self(self))); }

PyObject* dtype_new(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject* given = nullptr;
    const char* names[] = {"dtype", nullptr};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:dtype", const_cast<char**>(names), &given)) return nullptr;
    return Py_NewRef(dtype_object(to_dtype({"dtype", "dtype"}, given)));
  });
}

PyObject* dtype_reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("O(s)", reinterpret_cast<PyObject*>(dtype_type), long_name_of(dtype_of_self(self)));
}

PyObject* dtype_name(PyObject* self, void*) { return dtype_str(self); }
PyObject* dtype_itemsize(PyObject* self, void*) { return PyLong_FromSize_t(size_of(dtype_of_self(self))); }
PyObject* dtype_is_floating_point(PyObject* self, void*) { return PyBool_FromLong(is_float(dtype_of_self(self))); }
PyObject* dtype_is_signed(PyObject* self, void*) {
  const Dtype dtype = dtype_of_self(self);
  return PyBool_FromLong(dtype != Dtype::kBool && dtype != Dtype::kU8);
}

PyGetSetDef dtype_properties[] = {
    {"name", dtype_name, nullptr, "The name: 'float32'.", nullptr},
    {"itemsize", dtype_itemsize, nullptr, "The size of an element in bytes.", nullptr},
    {"is_floating_point", dtype_is_floating_point, nullptr, "Whether the elements are floats.", nullptr},
    {"is_signed", dtype_is_signed, nullptr, "Whether the elements can be negative.", nullptr},
    {}};
PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, nullptr}, {}};
PyType_Slot dtype_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
                             {Py_tp_str, reinterpret_cast<void*>(dtype_str)},
                             {Py_tp_new, reinterpret_cast<void*>(dtype_new)},
                             {Py_tp_getset, dtype_properties},
                             {Py_tp_methods, dtype_methods},
                             {Py_tp_doc, const_cast<char*>("The type of a tensor's elements.")},
                             {0, nullptr}};
PyType_Spec dtype_spec = {"lucid.dtype", sizeof(DtypeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                          dtype_slots};

PyObject* device_repr(PyObject*) { return PyUnicode_FromString("device(type='cpu')"); }
PyObject* device_str(PyObject*) { return PyUnicode_FromString("cpu"); }
PyObject* device_get_type(PyObject*, void*) { return PyUnicode_FromString("cpu"); }
PyObject* device_get_index(PyObject*, void*) { return Py_NewRef(Py_None); }

PyObject* device_new(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject* given = nullptr;
    PyObject* index = nullptr;
    const char* names[] = {"type", "index", nullptr};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:device", const_cast<char**>(names), &given, &index))
      return nullptr;
    check_device("device", given);
    return Py_NewRef(the_device);
  });
}

PyObject* device_reduce(PyObject*, PyObject*) {
  return Py_BuildValue("O(s)", reinterpret_cast<PyObject*>(device_type), "cpu");
}

PyGetSetDef device_properties[] = {{"type", device_get_type, nullptr, "The kind of device: 'cpu'.", nullptr},
                                   {"index", device_get_index, nullptr, "The index of the device, or None.", nullptr},
                                   {}};
PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, nullptr}, {}};
PyType_Slot device_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(device_repr)},
                              {Py_tp_str, reinterpret_cast<void*>(device_str)},
                              {Py_tp_new, reinterpret_cast<void*>(device_new)},
                              {Py_tp_getset, device_properties},
                              {Py_tp_methods, device_methods},
                              {Py_tp_doc, const_cast<char*>("The device that holds a tensor's memory.")},
                              {0, nullptr}};
PyType_Spec device_spec = {"lucid.device", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                           device_slots};

}  // namespace

PyObject* dtype_object(Dtype dtype) { return dtype_objects[static_cast<int>(dtype)]; }

std::optional<Dtype> dtype_in(PyObject* object) {
  if (Py_TYPE(object) != dtype_type) return std::nullopt;
  return dtype_of_self(object);
}

const char* long_name_of(Dtype dtype) { return kLongNames[static_cast<int>(dtype)]; }

PyObject* device_object() { return the_device; }

bool is_device(PyObject* object) { return Py_TYPE(object) == device_type; }

void check_device(const char* function, PyObject* object) {
  if (!object || object == Py_None || is_device(object)) return;
  if (!PyUnicode_Check(object)) ArgumentContext{function, "device"}.fail("a device", object);
  const char* name = PyUnicode_AsUTF8(object);
  if (!name) nb::detail::raise_python_error();
  if (std::string_view(name) == "cpu" || std::string_view(name) == "cpu:0") return;
  PyErr_Format(PyExc_ValueError, "%s: there is no device %R; the devices are: 'cpu'", function, object);
  nb::detail::raise_python_error();
}

void bind_dtypes(nb::module_& module) {
  dtype_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&dtype_spec)).release().ptr());
  device_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&device_spec)).release().ptr());
  module.attr("dtype") = nb::borrow(reinterpret_cast<PyObject*>(dtype_type));
  module.attr("device") = nb::borrow(reinterpret_cast<PyObject*>(device_type));
  declare_pure(module, module.attr("dtype"));
  declare_pure(module, module.attr("device"));
  the_device = reinterpret_cast<PyObject*>(PyObject_New(PyObject, device_type));
  for (int i = 0; i < kDtypeCount; ++i) {
    auto* object = PyObject_New(DtypeObject, dtype_type);
    if (!object) nb::detail::raise_python_error();
    object->dtype = static_cast<Dtype>(i);
    dtype_objects[i] = reinterpret_cast<PyObject*>(object);
    module.attr(kLongNames[i]) = nb::borrow(dtype_objects[i]);
  }
}

}  // namespace lucid::python
