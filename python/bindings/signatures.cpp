// inspect.signature of the functions and methods that nanobind binds. Its own types have no signature that inspect
// knows.

#include "bindings/errors.h"
#include "bindings/interop.h"

namespace lucid::python {
namespace {

PyObject* signature_of(PyObject* function, bool is_bound) {
  return guarded([&] {
    const nb::object overloads = checked(PyObject_GetAttrString(function, "__nb_signature__"));
    const nb::object module = checked(PyImport_ImportModule("lucid._signature"));
    return PyObject_CallMethod(module.ptr(), "of_bound", "OO", overloads.ptr(), is_bound ? Py_True : Py_False);
  });
}

PyObject* function_signature(PyObject* self, void*) { return signature_of(self, false); }
PyObject* method_signature(PyObject* self, void*) { return signature_of(self, true); }

PyGetSetDef of_function = {"__signature__", function_signature, nullptr, nullptr, nullptr};
PyGetSetDef of_method = {"__signature__", method_signature, nullptr, nullptr, nullptr};

void add_signature(PyTypeObject* type, PyGetSetDef& property) {
  // The types are immutable for Python code.
  const nb::object member = checked(PyDescr_NewGetSet(type, &property));
  check_status(PyDict_SetItemString(type->tp_dict, property.name, member.ptr()));
  PyType_Modified(type);
}

}  // namespace

void bind_signatures(nb::module_& module) {
  const nb::object function = module.attr("tensor");
  const nb::object method = module.attr("OptimizerBase").attr("zero_grad");
  const nb::object bound = checked(Py_TYPE(method.ptr())->tp_descr_get(method.ptr(), module.ptr(), nullptr));
  add_signature(Py_TYPE(function.ptr()), of_function);
  add_signature(Py_TYPE(method.ptr()), of_function);
  add_signature(Py_TYPE(bound.ptr()), of_method);
}

}  // namespace lucid::python
