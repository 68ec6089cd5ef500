// The methods of `_core.Module`, the base of lucid.nn.Module. They take positional arguments only.

#include <lucid/nn/fields.h>
#include <nanobind/stl/string.h>

#include <unordered_set>

#include "base/error.h"
#include "base/stack.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/module_object.h"
#include "bindings/pure.h"
#include "nn/bridge.h"
#include "nn/hooks.h"
#include "tensor/api.h"
#include "tensor/grad_mode.h"
#include "tensor/transfer.h"

namespace lucid::python {
namespace {

std::string text(PyObject* object) {
  if (!PyUnicode_Check(object)) throw TypeError("expected a str, not {}", describe(object));
  return nb::cast<const char*>(nb::handle(object));
}

/// A slot creates its Python object on first access. This does not count as a change of the module, hence the
/// const_cast.
nb::object tensor_object(const nn::NamedSlot& named) {
  return nb::steal(object_in(const_cast<nn::TensorSlot&>(named.slot)));
}

// Settings.

/// _build(dtype, device=None, **settings): applies the settings and builds the module, with parameters on the device.
PyObject* build(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    check_count(1, count);
    if (!module_object(self).module) make_core(self);
    nn::Module& module = module_in(self);
    Device device = current_device();
    for (Py_ssize_t i = 0; keyword_names && i < PyTuple_GET_SIZE(keyword_names); ++i) {
      const std::string name = text(PyTuple_GET_ITEM(keyword_names, i));
      if (name == "device") {
        device = to_device_or_none(module.type_name().c_str(), arguments[count + i]).value_or(device);
        continue;
      }
      if (!set_field(module, name, arguments[count + i]))
        throw InternalError("{} has no setting '{}'", module.type_name(), name);
    }
    const DeviceScope scope(device);
    module.build(to_optional_dtype({module.type_name().c_str(), "dtype"}, arguments[0]));
    return Py_NewRef(Py_None);
  });
}

PyObject* reset(PyObject* self, PyObject*) {
  return guarded([&] {
    module_in(self).reset_parameters();
    return Py_NewRef(Py_None);
  });
}

PyObject* settings(PyObject* self, PyObject*) {
  return guarded([&] {
    nb::dict all;
    for (const auto& [name, value] : nn::Fields::list(module_in(self))) all[name.c_str()] = from_tree(value);
    return all.release().ptr();
  });
}

PyObject* set_setting(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded([&] {
    set_field(module_in(self), text(arguments[0]), arguments[1]);
    return Py_NewRef(Py_None);
  });
}

PyObject* extra_repr(PyObject* self, PyObject*) {
  return guarded([&] { return PyUnicode_FromString(module_in(self).extra_repr().c_str()); });
}

// Parts.

PyObject* register_parameter(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded([&] {
    nn::Module& module = module_in(self);
    const std::string name = text(arguments[0]);
    module.register_parameter(name, Tensor(tensor_or_null(arguments[1])));
    if (arguments[1] != Py_None) keep_object(module.find_parameter(name)->slot, arguments[1]);
    return Py_NewRef(Py_None);
  });
}

PyObject* register_buffer(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded([&] {
    nn::Module& module = module_in(self);
    const std::string name = text(arguments[0]);
    module.register_buffer(name, Tensor(tensor_or_null(arguments[1])), flag(arguments[2]));
    if (arguments[1] != Py_None) keep_object(module.find_buffer(name)->slot, arguments[1]);
    return Py_NewRef(Py_None);
  });
}

PyObject* add_module(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded([&] {
    nn::Ptr<nn::Module> child;
    if (arguments[1] != Py_None) child = nn::Ptr<nn::Module>(&module_in(arguments[1]));
    module_in(self).add_module(text(arguments[0]), child);
    return Py_NewRef(Py_None);
  });
}

/// Returns (parameters, buffers, names of non-persistent buffers, child modules) of this module only, in order,
/// including entries that are None.
PyObject* parts(PyObject* self, PyObject*) {
  return guarded([&] {
    // copy.deepcopy() and pickle recurse through this function.
    check_stack("copy");
    nn::Module& module = module_in(self);
    nb::dict parameters;
    nb::dict buffers;
    nb::list transient;
    nb::dict modules;
    for (const nn::NamedSlot& named : module.parameter_slots()) parameters[named.name.c_str()] = tensor_object(named);
    for (const nn::NamedSlot& named : module.buffer_slots()) {
      buffers[named.name.c_str()] = tensor_object(named);
      if (!named.persistent) transient.append(named.name);
    }
    for (const nn::NamedChild& child : module.child_slots())
      modules[child.name.c_str()] = child.module ? nb::steal(to_python(*child.module)) : nb::none();
    return nb::make_tuple(parameters, buffers, transient, modules).release().ptr();
  });
}

/// The numbers of parameters, buffers and child modules of this module only.
PyObject* part_counts(PyObject* self, PyObject*) {
  return guarded([&] {
    const nn::Module& module = module_in(self);
    return nb::make_tuple(module.parameter_slots().size(), module.buffer_slots().size(), module.child_slots().size())
        .release()
        .ptr();
  });
}

PyObject* clear_children(PyObject* self, PyObject*) {
  return guarded([&] {
    nn::Module& module = module_in(self);
    while (!module.child_slots().empty()) module.remove_part(std::string(module.child_slots().back().name));
    while (!module.parameter_slots().empty()) module.remove_part(std::string(module.parameter_slots().back().name));
    return Py_NewRef(Py_None);
  });
}

// Walks.

/// The parameters or buffers of a module as (name, object). Each object is created in its slot, so that it lives as
/// long as the module.
nb::list named_objects(nn::Module& root, const std::string& prefix, bool recurse, bool once, bool parameters) {
  std::vector<std::pair<std::string, nn::Ptr<nn::Module>>> modules;
  if (recurse)
    modules = root.named_modules(prefix, once);
  else
    modules.emplace_back(prefix, nn::Ptr<nn::Module>(&root));
  nb::list found;
  std::unordered_set<const TensorImpl*> seen;
  for (const auto& [path, module] : modules)
    for (const nn::NamedSlot& named : parameters ? module->parameter_slots() : module->buffer_slots()) {
      if (!named.slot.impl() || (once && !seen.insert(named.slot.impl()).second)) continue;
      const std::string name = path.empty() ? named.name : path + "." + named.name;
      found.append(nb::make_tuple(name, tensor_object(named)));
    }
  return found;
}

/// (parameters, prefix, recurse, remove_duplicate): the parameters, or the buffers if `parameters` is false.
PyObject* named_tensors(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded([&] {
    return named_objects(module_in(self), text(arguments[1]), flag(arguments[2]), flag(arguments[3]),
                         flag(arguments[0]))
        .release()
        .ptr();
  });
}

nb::object to_list(const std::vector<std::pair<std::string, nn::Ptr<nn::Module>>>& modules) {
  nb::list list;
  for (const auto& [name, module] : modules) list.append(nb::make_tuple(name, nb::steal(to_python(*module))));
  return list;
}

PyObject* named_modules(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded(
      [&] { return to_list(module_in(self).named_modules(text(arguments[0]), flag(arguments[1]))).release().ptr(); });
}

PyObject* named_children(PyObject* self, PyObject*) {
  return guarded([&] { return to_list(module_in(self).named_children()).release().ptr(); });
}

PyObject* get_submodule(PyObject* self, PyObject* path) {
  return guarded([&] { return to_python(*module_in(self).get_submodule(text(path))); });
}

PyObject* apply(PyObject* self, PyObject* function) {
  return guarded([&] {
    const nb::handle callable = function;
    module_in(self).apply([&](nn::Module& module) { callable(nb::steal(to_python(module))); });
    return Py_NewRef(self);
  });
}

// Modes and dtypes.

PyObject* train(PyObject* self, PyObject* mode) {
  return guarded([&] {
    module_in(self).train(flag(mode));
    return Py_NewRef(self);
  });
}

PyObject* requires_grad(PyObject* self, PyObject* wanted) {
  return guarded([&] {
    module_in(self).requires_grad_(flag(wanted));
    return Py_NewRef(self);
  });
}

PyObject* zero_grad(PyObject* self, PyObject* set_to_none) {
  return guarded([&] {
    module_in(self).zero_grad(flag(set_to_none));
    return Py_NewRef(Py_None);
  });
}

PyObject* to_device_method(PyObject* self, PyObject* device) {
  return guarded([&] {
    const std::optional<Device> wanted = to_device_or_none("to", device);
    if (!wanted) ArgumentContext{"to", "device"}.fail("a device", device);
    const GradModeScope no_grad(false);
    module_in(self).transform([&](const Tensor& tensor) { return wrap(to_device(TensorRef(tensor.impl()), *wanted)); });
    return Py_NewRef(Py_None);
  });
}

PyObject* to_dtype_method(PyObject* self, PyObject* dtype) {
  return guarded([&] {
    module_in(self).to(to_dtype({"to", "dtype"}, dtype));
    return Py_NewRef(self);
  });
}

PyObject* transform(PyObject* self, PyObject* function) {
  return guarded([&] {
    const nb::handle callable = function;
    module_in(self).transform([&](const Tensor& tensor) {
      const nb::object result = callable(nb::steal(to_python(ref_of(tensor))));
      return Tensor(&expect_tensor("_apply", result.ptr()));
    });
    return Py_NewRef(self);
  });
}

PyObject* changed(PyObject* self, PyObject*) {
  return guarded([&] {
    module_in(self).changed();
    return Py_NewRef(Py_None);
  });
}

// State.

/// (state, prefix, keep_vars).
PyObject* save_state(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded([&] {
    PythonState state(arguments[0]);
    module_in(self).save_state(state, text(arguments[1]), flag(arguments[2]));
    return Py_NewRef(Py_None);
  });
}

PyObject* save_own(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded([&] {
    PythonState state(arguments[0]);
    nn::Bridge::save_own_state(module_in(self), state, text(arguments[1]), flag(arguments[2]));
    return Py_NewRef(Py_None);
  });
}

nb::list to_list(const std::vector<std::string>& names) {
  nb::list list;
  for (const std::string& name : names) list.append(name);
  return list;
}

/// (state, strict, assign) -> (missing keys, unexpected keys).
PyObject* load_state(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded([&] {
    PythonState state(arguments[0]);
    const nn::LoadResult result = module_in(self).load_state(state, flag(arguments[1]), flag(arguments[2]));
    return nb::make_tuple(to_list(result.missing_keys), to_list(result.unexpected_keys)).release().ptr();
  });
}

/// (state, prefix) -> (missing keys, unexpected keys, errors), without child modules.
PyObject* load_own(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded([&] {
    PythonState state(arguments[0]);
    nn::LoadResult result;
    std::vector<std::string> errors;
    nn::Bridge::load_own_state(module_in(self), state, text(arguments[1]), false, result, errors);
    return nb::make_tuple(to_list(result.missing_keys), to_list(result.unexpected_keys), to_list(errors))
        .release()
        .ptr();
  });
}

/// (kind, function, with_kwargs, always_call, prepend).
PyObject* add_hook_method(PyObject* self, PyObject* const* arguments, Py_ssize_t) {
  return guarded([&] { return add_hook(module_in(self), arguments).release().ptr(); });
}

PyObject* hook_list(PyObject* self, PyObject*) {
  return guarded([&] { return hooks_of(module_in(self)).release().ptr(); });
}

using FastMethod = PyObject* (*)(PyObject * self, PyObject* const* arguments, Py_ssize_t count);

/// A method of METH_FASTCALL that takes `expected` arguments. Python does not check their number.
template <FastMethod function, Py_ssize_t expected>
PyObject* call_counted(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    check_count(expected, count);
    return function(self, arguments, count);
  });
}

template <FastMethod function, Py_ssize_t expected>
PyMethodDef counted(const char* name) {
  return {name, method(call_counted<function, expected>), METH_FASTCALL, nullptr};
}

/// Sets the vectorcall flag, which mutable classes do not inherit in Python 3.11.
PyObject* init_subclass(PyObject* type, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    auto* made = reinterpret_cast<PyTypeObject*>(type);
    if (made->tp_call == call_module) made->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    const nb::object next =
        checked(PyObject_CallFunction(reinterpret_cast<PyObject*>(&PySuper_Type), "OO", module_type, type));
    const nb::object chained = checked(PyObject_GetAttrString(next.ptr(), "__init_subclass__"));
    return PyObject_Call(chained.ptr(), arguments, keywords);
  });
}

}  // namespace

bool set_field(nn::Module& module, std::string_view name, PyObject* value) {
  const std::string root = module.type_name() + "." + std::string(name);
  return nn::Fields::set(module, name, to_tree(root, value, Unsupported::kKeep));
}

bool flag(PyObject* object) { return to_bool({"Module", "flag"}, object); }

void check_count(Py_ssize_t expected, Py_ssize_t count) {
  if (count != expected)
    throw TypeError("expected {} positional argument{}, got {}", expected, expected == 1 ? "" : "s", count);
}

PyMethodDef* module_methods() {
  static PyMethodDef methods[] = {
      {"forward", forward_function(), METH_FASTCALL | METH_KEYWORDS,
       "forward($self, *args, **kwargs)\n--\n\nComputes the result of the module. Override it."},
      {"extra_repr", method(extra_repr), METH_NOARGS,
       "extra_repr($self)\n--\n\nThe text between the parentheses of the module's repr."},
      {"_build", method(build), METH_FASTCALL | METH_KEYWORDS, nullptr},
      {"_reset", method(reset), METH_NOARGS, nullptr},
      {"_settings", method(settings), METH_NOARGS, nullptr},
      counted<set_setting, 2>("_set_setting"),
      counted<register_parameter, 2>("_register_parameter"),
      counted<register_buffer, 3>("_register_buffer"),
      counted<add_module, 2>("_add_module"),
      {"_parts", method(parts), METH_NOARGS, nullptr},
      {"_part_counts", method(part_counts), METH_NOARGS, nullptr},
      {"_clear", method(clear_children), METH_NOARGS, nullptr},
      counted<named_tensors, 4>("_named_tensors"),
      counted<named_modules, 2>("_named_modules"),
      {"_named_children", method(named_children), METH_NOARGS, nullptr},
      {"_get_submodule", method(get_submodule), METH_O, nullptr},
      {"_apply_to_modules", method(apply), METH_O, nullptr},
      {"_train", method(train), METH_O, nullptr},
      {"_requires_grad", method(requires_grad), METH_O, nullptr},
      {"_zero_grad", method(zero_grad), METH_O, nullptr},
      {"_to_dtype", method(to_dtype_method), METH_O, nullptr},
      {"_to_device", method(to_device_method), METH_O, nullptr},
      {"_transform", method(transform), METH_O, nullptr},
      {"_changed", method(changed), METH_NOARGS, nullptr},
      counted<save_state, 3>("_save_state"),
      counted<save_own, 3>("_save_own"),
      counted<load_state, 3>("_load_state"),
      counted<load_own, 2>("_load_own"),
      counted<add_hook_method, 5>("_add_hook"),
      {"_hook_list", method(hook_list), METH_NOARGS, nullptr},
      {"__init_subclass__", method(init_subclass), METH_VARARGS | METH_KEYWORDS | METH_CLASS, nullptr},
      {}};
  return methods;
}

}  // namespace lucid::python
