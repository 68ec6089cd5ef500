// lucid.dtype and lucid.device. Their objects live as long as the process.

#include "bindings/dtype_object.h"

#include <structmember.h>

#include <limits>

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/pure.h"
#include "device/find_device.h"

namespace lucid::python {
namespace {

struct DtypeObject {
  PyObject ob_base;
  Dtype dtype;
};

struct DeviceObject {
  PyObject ob_base;
  Device device;
};

PyTypeObject* dtype_type = nullptr;
PyTypeObject* device_type = nullptr;
PyObject* dtype_objects[kDtypeCount] = {};
PyObject* device_objects[kMaxGpus + 1] = {};  // by number; made when first used

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
                             {Py_tp_doc, const_cast<char*>("dtype(dtype)\n--\n\nThe type of a tensor's elements.")},
                             {0, nullptr}};
PyType_Spec dtype_spec = {"lucid.dtype", sizeof(DtypeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                          dtype_slots};

Device device_of_self(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->device; }

PyObject* device_repr(PyObject* self) {
  const Device device = device_of_self(self);
  if (!device.is_gpu()) return PyUnicode_FromString("device(type='cpu')");
  return PyUnicode_FromFormat("device(type='gpu', index=%d)", static_cast<int>(device.index()));
}
PyObject* device_str(PyObject* self) {
  return guarded([&] { return PyUnicode_FromString(to_string(device_of_self(self)).c_str()); });
}
PyObject* device_get_type(PyObject* self, void*) {
  return PyUnicode_FromString(device_of_self(self).is_gpu() ? "gpu" : "cpu");
}
PyObject* device_get_index(PyObject* self, void*) {
  const Device device = device_of_self(self);
  return device.is_gpu() ? PyLong_FromLong(device.index()) : Py_NewRef(Py_None);
}

/// device("gpu"), device("gpu:1"), device("gpu", 1), device(another).
PyObject* device_new(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject* given = nullptr;
    PyObject* index = nullptr;
    const char* names[] = {"type", "index", nullptr};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:device", const_cast<char**>(names), &given, &index))
      return nullptr;
    if (!index || index == Py_None || !PyUnicode_Check(given)) {
      const std::optional<Device> device = to_device_or_none("device", given);
      if (!device) ArgumentContext{"device", "type"}.fail("a device", given);
      return Py_NewRef(device_object(*device));
    }
    const nb::object name = checked(PyUnicode_FromFormat("%U:%S", given, index));
    return Py_NewRef(device_object(*to_device_or_none("device", name.ptr())));
  });
}

PyObject* device_reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    return Py_BuildValue("O(s)", reinterpret_cast<PyObject*>(device_type), to_string(device_of_self(self)).c_str());
  });
}

PyGetSetDef device_properties[] = {{"type", device_get_type, nullptr, "The kind of device: 'cpu' or 'gpu'.", nullptr},
                                   {"index", device_get_index, nullptr, "The index of the device, or None.", nullptr},
                                   {}};
PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, nullptr}, {}};
PyType_Slot device_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
    {Py_tp_str, reinterpret_cast<void*>(device_str)},
    {Py_tp_new, reinterpret_cast<void*>(device_new)},
    {Py_tp_getset, device_properties},
    {Py_tp_methods, device_methods},
    {Py_tp_doc, const_cast<char*>("device(type, index=None)\n--\n\nThe device that holds a tensor's memory.")},
    {0, nullptr}};
PyType_Spec device_spec = {"lucid.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                           device_slots};

}  // namespace

PyObject* dtype_object(Dtype dtype) { return dtype_objects[static_cast<int>(dtype)]; }

std::optional<Dtype> dtype_in(PyObject* object) {
  if (Py_TYPE(object) != dtype_type) return std::nullopt;
  return dtype_of_self(object);
}

PyObject* device_object(Device device) {
  PyObject*& object = device_objects[device.number()];
  if (!object) {
    object = reinterpret_cast<PyObject*>(PyObject_New(DeviceObject, device_type));
    if (!object) nb::detail::raise_python_error();
    reinterpret_cast<DeviceObject*>(object)->device = device;
  }
  return object;
}

std::optional<Device> device_in(PyObject* object) {
  if (Py_TYPE(object) != device_type) return std::nullopt;
  return device_of_self(object);
}

std::optional<Device> to_device_or_none(const char* function, PyObject* object) {
  if (!object || object == Py_None) return std::nullopt;
  if (const std::optional<Device> device = device_in(object)) return device;
  if (!PyUnicode_Check(object)) ArgumentContext{function, "device"}.fail("a device", object);
  const char* name = PyUnicode_AsUTF8(object);
  if (!name) nb::detail::raise_python_error();
  return find_device(function, name);
}

void bind_dtypes(nb::module_& module) {
  dtype_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&dtype_spec)).release().ptr());
  device_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&device_spec)).release().ptr());
  module.attr("dtype") = nb::borrow(reinterpret_cast<PyObject*>(dtype_type));
  module.attr("device") = nb::borrow(reinterpret_cast<PyObject*>(device_type));
  declare_pure(module, module.attr("dtype"));
  declare_pure(module, module.attr("device"));
  for (int i = 0; i < kDtypeCount; ++i) {
    auto* object = PyObject_New(DtypeObject, dtype_type);
    if (!object) nb::detail::raise_python_error();
    object->dtype = static_cast<Dtype>(i);
    dtype_objects[i] = reinterpret_cast<PyObject*>(object);
    module.attr(long_name_of(static_cast<Dtype>(i))) = nb::borrow(dtype_objects[i]);
  }
}

}  // namespace lucid::python
