#include "bindings/module_object.h"

#include <lucid/models.h>
#include <lucid/nn/fields.h>
#include <lucid/nn/layer.h>
#include <nanobind/stl/string.h>
#include <structmember.h>

#include <unordered_map>

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/pure.h"
#include "nn/hooks.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"

// Private to CPython: reads an attribute without raising an exception if it is missing.
extern "C" PyObject* _PyObject_GenericGetAttrWithDict(PyObject*, PyObject*, PyObject*, int);

namespace lucid::python {

PyTypeObject* module_type = nullptr;

namespace {

using nn::NamedChild;
using nn::NamedSlot;

PyTypeObject* buffer_type = nullptr;
PyTypeObject* wrapper_type = nullptr;
PyTypeObject* public_module_type = nullptr;
// Maps between C++ modules and their Python classes. Classes live as long as the process.
std::unordered_map<PyTypeObject*, const nn::LayerType*> layers_by_class;
std::unordered_map<std::string, PyTypeObject*> classes_by_name;

std::string_view text_of(PyObject* name) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &size);
  if (!text) nb::detail::raise_python_error();
  return {text, static_cast<size_t>(size)};
}

[[noreturn]] void fail_attribute(const char* format, PyObject* self, PyObject* name) {
  PyErr_Format(PyExc_AttributeError, format, Py_TYPE(self)->tp_name, name);
  nb::detail::raise_python_error();
}

// Lifetime.

PyObject* new_module(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject* self = nullptr;
    if (type->tp_flags & Py_TPFLAGS_IS_ABSTRACT) {
      // object.__new__ raises the error that lists the abstract methods.
      const nb::object nothing = checked(PyTuple_New(0));
      self = PyBaseObject_Type.tp_new(type, nothing.ptr(), nullptr);
    } else {
      self = type->tp_alloc(type, 0);
    }
    if (self) module_object(self).vectorcall = vectorcall_module;
    return self;
  });
}

int init_module(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    if (PyTuple_GET_SIZE(arguments) > 0 || (keywords && PyDict_GET_SIZE(keywords) > 0))
      throw TypeError("Module.__init__() takes no arguments; {} passed it some", Py_TYPE(self)->tp_name);
    if (!module_object(self).module) make_core(self);
    return 0;
  });
}

int visit_parts(const nn::Module& module, visitproc visit, void* arg) {
  for (const auto* slots : {&module.parameter_slots(), &module.buffer_slots()})
    for (const NamedSlot& named : *slots) Py_VISIT(static_cast<PyObject*>(named.slot.object()));
  for (const auto& entry : module.hooks()) {
    // A hook that is running, or shared with a copy of the module, has other owners.
    if (entry.use_count() != 1) continue;
    const PythonHook* hook =
        std::visit([](const auto& function) { return function.template target<PythonHook>(); }, entry->function);
    if (hook && hook->function.is_unique()) Py_VISIT(hook->function.get().ptr());
  }
  for (const NamedChild& child : module.child_slots()) {
    if (!child.module) continue;
    if (void* object = child.module->object()) {
      Py_VISIT(static_cast<PyObject*>(object));
    } else if (child.module->use_count() == 1) {
      // This module is the only owner, so it also owns the child's references.
      if (const int status = visit_parts(*child.module, visit, arg)) return status;
    }
  }
  return 0;
}

int traverse_module(PyObject* self, visitproc visit, void* arg) {
  const ModuleObject& object = module_object(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(object.attributes);
  return object.module ? visit_parts(*object.module, visit, arg) : 0;
}

int clear_module(PyObject* self) {
  ModuleObject& object = module_object(self);
  Py_CLEAR(object.attributes);
  if (object.module) object.module->clear_parts();
  return 0;
}

void delete_module(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  ModuleObject& object = module_object(self);
  PyObject_GC_UnTrack(self);
  if (object.weak_references) PyObject_ClearWeakRefs(self);
  clear_module(self);
  if (object.module) std::exchange(object.module, nullptr)->destroy();
  type->tp_free(self);
  Py_DECREF(type);
}

// Attributes.

PyObject* find_part(nn::Module& module, std::string_view name) {
  if (NamedSlot* parameter = module.find_parameter(name)) return object_in(parameter->slot);
  if (NamedChild* child = module.find_child(name))
    return child->module ? to_python(*child->module) : Py_NewRef(Py_None);
  if (NamedSlot* buffer = module.find_buffer(name)) return object_in(buffer->slot);
  if (const auto setting = nn::Fields::get(module, name)) return from_tree(*setting).release().ptr();
  return nullptr;
}

PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* found = _PyObject_GenericGetAttrWithDict(self, name, nullptr, 1);
  if (found || PyErr_Occurred()) return found;
  return guarded([&]() -> PyObject* {
    nn::Module* module = module_object(self).module;
    if (module)
      if (PyObject* part = find_part(*module, text_of(name))) return part;
    // A property raised AttributeError: raise it again for its own message.
    if (_PyType_Lookup(Py_TYPE(self), name)) return PyObject_GenericGetAttr(self, name);
    fail_attribute(module ? "'%.100s' object has no attribute '%U'"
                          : "'%.100s' object has no attribute '%U': call super().__init__() before using the module",
                   self, name);
  });
}

void forget_attribute(PyObject* self, PyObject* name) {
  PyObject* attributes = module_object(self).attributes;
  if (attributes && PyDict_GetItemWithError(attributes, name)) check_status(PyDict_DelItem(attributes, name));
}

/// The module that a wrapper wraps; null if `module` is not a wrapper.
PyObject* wrapped_in(PyObject* module) {
  if (!wrapper_type || !PyObject_TypeCheck(module, wrapper_type)) return nullptr;
  PyObject* attributes = module_object(module).attributes;
  return attributes ? PyDict_GetItemString(attributes, "_wrapped") : nullptr;
}

bool is_parameter(PyObject* value) { return parameter_type && PyObject_TypeCheck(value, parameter_type); }
bool is_buffer(PyObject* value) { return buffer_type && PyObject_TypeCheck(value, buffer_type); }

[[noreturn]] void fail_assignment(PyObject* value, PyObject* name, const char* kind) {
  PyErr_Format(PyExc_TypeError, "cannot assign '%.100s' object to %s '%U'", Py_TYPE(value)->tp_name, kind, name);
  nb::detail::raise_python_error();
}

int set_generic(PyObject* self, PyObject* name, PyObject* value) {
  check_status(PyObject_GenericSetAttr(self, name, value));
  if (nn::Module* module = module_object(self).module) module->changed();
  return 0;
}

void assign_buffer(nn::Module& module, std::string_view name, PyObject* value, bool persistent) {
  if (value == Py_None) {
    module.set_buffer(name, Tensor(), persistent);
  } else {
    module.set_buffer(name, Tensor(tensor_or_null(value)), persistent);
    keep_object(module.find_buffer(name)->slot, value);
  }
}

int assign(PyObject* self, nn::Module& module, PyObject* name, PyObject* value) {
  const std::string_view key = text_of(name);
  if (is_parameter(value)) {
    forget_attribute(self, name);
    module.set_parameter(key, Tensor(tensor_or_null(value)));
    keep_object(module.find_parameter(key)->slot, value);
    return 0;
  }
  if (module.find_parameter(key)) {
    if (value != Py_None) fail_assignment(value, name, "parameter (lucid.nn.Parameter or None expected)");
    module.set_parameter(key, Tensor());
    return 0;
  }
  if (is_module(value)) {
    forget_attribute(self, name);
    module.set_child(key, nn::Ptr<nn::Module>(&module_in(value)));
    // The child is the wrapped module; the attribute is the wrapper, so that calls go through it.
    if (wrapped_in(value)) check_status(PyObject_GenericSetAttr(self, name, value));
    return 0;
  }
  if (module.find_child(key)) {
    if (value != Py_None) fail_assignment(value, name, "child module (lucid.nn.Module or None expected)");
    module.set_child(key, nullptr);
    return 0;
  }
  const NamedSlot* buffer = module.find_buffer(key);
  if (buffer || is_buffer(value)) {
    if (value != Py_None && !tensor_or_null(value))
      fail_assignment(value, name, "buffer (lucid.Tensor or None expected)");
    bool persistent = buffer ? buffer->persistent : true;
    if (is_buffer(value)) {
      const nb::object wanted = checked(PyObject_GetAttrString(value, "persistent"));
      persistent = to_bool({"Buffer", "persistent"}, wanted.ptr());
    }
    forget_attribute(self, name);
    assign_buffer(module, key, value, persistent);
    return 0;
  }
  if (nn::Fields::has(module, key)) {
    set_field(module, key, value);
    return 0;
  }
  return set_generic(self, name, value);
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return guarded([&] {
    nn::Module* module = module_object(self).module;
    if (!module) {
      if (value && (is_module(value) || is_parameter(value) || is_buffer(value)))
        fail_attribute("'%.100s': call super().__init__() before assigning '%U'", self, name);
      return set_generic(self, name, value);
    }
    if (value) return assign(self, *module, name, value);
    if (module->remove_part(text_of(name))) {
      forget_attribute(self, name);
      return 0;
    }
    return set_generic(self, name, nullptr);
  });
}

PyObject* get_training(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(module_in(self).training()); });
}
int set_training(PyObject* self, PyObject* value, void*) {
  return guarded([&] {
    if (!value) throw TypeError("training cannot be deleted");
    module_in(self).set_training(to_bool({"training", "value"}, value));
    return 0;
  });
}
PyObject* get_version(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(module_in(self).version()); });
}

PyObject* repr_module(PyObject* self) {
  return guarded([&] { return PyUnicode_FromString(module_in(self).repr().c_str()); });
}

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"training", get_training, set_training, "Whether the module is in training mode.", nullptr},
    {"_version", get_version, nullptr, "A counter that changes when the module or a submodule changes.", nullptr},
    {}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(ModuleObject, vectorcall), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(ModuleObject, attributes), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(ModuleObject, weak_references), READONLY, nullptr},
                         {}};

PyTypeObject* as_class(const char* function, nb::handle object, PyTypeObject* base) {
  auto* type = reinterpret_cast<PyTypeObject*>(object.ptr());
  if (!PyType_Check(object.ptr()) || !PyType_IsSubtype(type, base))
    throw TypeError("{}: expected a class derived from {}", function, base->tp_name);
  Py_INCREF(type);
  return type;
}

/// Gives a class of layers a forward() of its own, which shows these parameters. It is the function of Module.
void add_forward(PyTypeObject* type, const std::string& parameters) {
  // Never freed: the descriptor refers to them.
  const auto* text = new std::string("forward($self, " + parameters + ")\n--\n\nComputes the result of the module.");
  auto* definition = new PyMethodDef{"forward", forward_function(), METH_FASTCALL | METH_KEYWORDS, text->c_str()};
  const nb::object forward = checked(PyDescr_NewMethod(type, definition));
  check_status(PyObject_SetAttr(reinterpret_cast<PyObject*>(type), module_names().forward, forward.ptr()));
}

void register_layer(nb::handle type, const std::string& name, const std::string& parameters) {
  PyTypeObject* python = as_class("register_layer", type, module_type);
  if (!parameters.empty() && !overrides(python, module_names().forward)) add_forward(python, parameters);
  for (const auto* types : {&nn::layer_types(), &models::layer_types()}) {
    for (const nn::LayerType& layer : *types) {
      if (layer.name != name) continue;
      layers_by_class[python] = &layer;
      classes_by_name[name] = python;
      return;
    }
  }
  throw ValueError("register_layer: there is no C++ module '{}'", name);
}

}  // namespace

nn::Module& module_in(PyObject* self) {
  if (!is_module(self)) throw TypeError("expected a Module, not {}", describe(self));
  if (PyObject* wrapped = wrapped_in(self)) return module_in(wrapped);
  nn::Module* module = module_object(self).module;
  if (module) return *module;
  PyErr_Format(PyExc_AttributeError, "'%.100s' is not initialised: call super().__init__() in its __init__()",
               Py_TYPE(self)->tp_name);
  nb::detail::raise_python_error();
}

void make_core(PyObject* self) {
  nn::Ptr<nn::Module> core;
  PyObject* order = Py_TYPE(self)->tp_mro;
  for (Py_ssize_t i = 0; !core && i < PyTuple_GET_SIZE(order); ++i) {
    const auto layer = layers_by_class.find(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(order, i)));
    if (layer != layers_by_class.end()) core = layer->second->make_blank();
  }
  if (!core) core = nn::make<nn::Module>();
  module_object(self).module = core.get();
  core->set_object(self);
}

PyObject* to_python(nn::Module& module) {
  if (void* object = module.object()) return Py_NewRef(static_cast<PyObject*>(object));
  const auto known = classes_by_name.find(module.type_name());
  PyTypeObject* type = known != classes_by_name.end() ? known->second : public_module_type;
  const nb::object self = checked(type->tp_alloc(type, 0));
  module_object(self.ptr()).vectorcall = vectorcall_module;
  module_object(self.ptr()).module = &module;
  module.set_object(self.ptr());
  return Py_NewRef(self.ptr());
}

PyObject* object_in(nn::TensorSlot& slot) {
  if (!slot.impl()) return Py_NewRef(Py_None);
  if (!slot.object()) {
    const nb::object object = nb::steal(to_python(TensorRef(slot.impl())));
    slot.adopt_object(Py_NewRef(object.ptr()));
  }
  return Py_NewRef(static_cast<PyObject*>(slot.object()));
}

void keep_object(nn::TensorSlot& slot, PyObject* object) {
  if (!slot.object()) slot.adopt_object(Py_NewRef(object));
}

bool overrides(PyTypeObject* type, PyObject* name) {
  PyObject* found = _PyType_Lookup(type, name);
  if (found == _PyType_Lookup(public_module_type, name)) return false;
  const bool is_forward = found && Py_IS_TYPE(found, &PyMethodDescr_Type) &&
                          reinterpret_cast<PyMethodDescrObject*>(found)->d_method->ml_meth == forward_function();
  return !is_forward;
}

void bind_modules(nb::module_& module) {
  using namespace nb::literals;
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_module)},
                         {Py_tp_init, reinterpret_cast<void*>(init_module)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(delete_module)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse_module)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear_module)},
                         {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
                         {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
                         {Py_tp_call, reinterpret_cast<void*>(call_module)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr_module)},
                         {Py_tp_methods, module_methods()},
                         {Py_tp_members, members},
                         {Py_tp_getset, properties},
                         {0, nullptr}};
  PyType_Spec spec = {"lucid._core.Module", sizeof(ModuleObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                      slots};
  module_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release().ptr());
  public_module_type = module_type;
  module.attr("Module") = nb::borrow(reinterpret_cast<PyObject*>(module_type));
  declare_pure(module, module.attr("Module"));
  install_bridge();
  bind_module_hooks(module);
  module.def("register_layer", register_layer, "type"_a, "name"_a, "parameters"_a);
  module.def(
      "register_wrapper", [](nb::handle type) { wrapper_type = as_class("register_wrapper", type, module_type); },
      "type"_a);
  module.def(
      "register_nn",
      [](nb::handle module_class, nb::handle parameter, nb::handle buffer) {
        public_module_type = as_class("register_nn", module_class, module_type);
        parameter_type = as_class("register_nn", parameter, tensor_type);
        buffer_type = as_class("register_nn", buffer, tensor_type);
      },
      "module"_a, "parameter"_a, "buffer"_a);
  module.def(
      "blank_module",
      [](nb::handle type) {
        PyTypeObject* wanted = as_class("unpickle", type, module_type);
        nb::object self = checked(new_module(wanted, nullptr, nullptr));
        Py_DECREF(wanted);
        make_core(self.ptr());
        return self;
      },
      "type"_a);
  module.def(
      "as_parameter",
      [](nb::handle type, nb::handle data, bool wants_grad) {
        auto* wanted = as_class("Parameter", type, tensor_type);
        Py_DECREF(wanted);
        TensorRef tensor = alias_of(expect_tensor("Parameter", data.ptr()));
        if (wants_grad) set_requires_grad(*tensor, true);
        return nb::steal(new_object(wanted, std::move(tensor)));
      },
      "type"_a, "data"_a, "requires_grad"_a);
}

}  // namespace lucid::python
