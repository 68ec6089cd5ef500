// Calls of modules, from Python and from C++.

#include <typeinfo>

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/module_object.h"
#include "bindings/parts.h"
#include "nn/bridge.h"
#include "nn/hooks.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

nn::Arguments from_python(nb::handle positional, nb::handle named) {
  nn::Arguments arguments;
  if (PyTuple_Check(positional.ptr()))
    for (const nb::handle item : nb::borrow<nb::tuple>(positional)) arguments.positional.push_back(to_tree(item));
  else
    arguments.positional.push_back(to_tree(positional));
  if (named.ptr() && PyDict_Check(named.ptr())) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t position = 0; PyDict_Next(named.ptr(), &position, &key, &value);)
      arguments.named.emplace_back(nb::cast<const char*>(nb::handle(key)), to_tree(value));
  }
  return arguments;
}

nb::object object_of(nn::Module& module) { return nb::steal(to_python(module)); }

nb::object tuple_of(const nn::Gradients& gradients) {
  return from_tree(Tree::Tuple{{gradients.begin(), gradients.end()}});
}

std::optional<nn::Gradients> to_gradients(const nb::object& returned) {
  if (returned.is_none()) return std::nullopt;
  nn::Gradients gradients;
  if (TensorImpl* tensor = tensor_or_null(returned.ptr())) return nn::Gradients{Tensor(tensor)};
  for (const Tree& item : to_tree(returned).as_items("the result of a hook"))
    gradients.push_back(item.as_optional_tensor("a gradient"));
  return gradients;
}

/// Runs the forward of the C++ core, without hooks.
PyObject* run_core(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  nn::Module& module = module_in(self);
  if (typeid(module) == typeid(nn::Module))
    throw NotImplementedError("{}: the module has no forward(); define one", Py_TYPE(self)->tp_name);
  if (count == 1 && !keyword_names) {
    if (TensorImpl* input = tensor_or_null(arguments[0]))
      return from_tree(module.forward_one(Tensor(input))).release().ptr();
  }
  return from_tree(module.forward_with(to_arguments(arguments, count, keyword_names))).release().ptr();
}

PyObject* call_python_forward(PyObject* self, PyObject* const* arguments, size_t flagged_count,
                              PyObject* keyword_names) {
  const auto count = static_cast<size_t>(PyVectorcall_NARGS(flagged_count));
  const size_t keywords = keyword_names ? static_cast<size_t>(PyTuple_GET_SIZE(keyword_names)) : 0;
  if (flagged_count & PY_VECTORCALL_ARGUMENTS_OFFSET) {
    // PY_VECTORCALL_ARGUMENTS_OFFSET: the element before the first argument may be changed during the call.
    PyObject** with_self = const_cast<PyObject**>(arguments) - 1;
    PyObject* before = std::exchange(*with_self, self);
    PyObject* result = PyObject_VectorcallMethod(module_names().forward, with_self, count + 1, keyword_names);
    *with_self = before;
    return result;
  }
  SmallVector<PyObject*, 8> all;
  all.push_back(self);
  for (size_t i = 0; i < count + keywords; ++i) all.push_back(arguments[i]);
  return PyObject_VectorcallMethod(module_names().forward, all.data(), count + 1, keyword_names);
}

/// Calls through tp_call. If __call__ is assigned to a class after its creation, instances still have the old
/// vectorcall pointer.
PyObject* call_patched(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  const nb::object positional = checked(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(positional.ptr(), i, Py_NewRef(arguments[i]));
  nb::object named;
  if (keyword_names) {
    named = checked(PyDict_New());
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keyword_names); ++i)
      check_status(PyDict_SetItem(named.ptr(), PyTuple_GET_ITEM(keyword_names, i), arguments[count + i]));
  }
  return Py_TYPE(self)->tp_call(self, positional.ptr(), named.ptr());
}

}  // namespace

PythonArguments python_arguments(const nn::Arguments& arguments) {
  PythonArguments result{from_tree(Tree::Tuple{arguments.positional}), {}};
  for (const auto& [name, value] : arguments.named) result.named[name.c_str()] = from_tree(value);
  return result;
}

nn::Arguments to_arguments(PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  nn::Arguments result;
  for (Py_ssize_t i = 0; i < count; ++i) result.positional.push_back(to_tree(arguments[i]));
  for (Py_ssize_t i = 0; keyword_names && i < PyTuple_GET_SIZE(keyword_names); ++i)
    result.named.emplace_back(nb::cast<const char*>(nb::handle(PyTuple_GET_ITEM(keyword_names, i))),
                              to_tree(arguments[count + i]));
  return result;
}

static PyObject* call_with_hooks(PyObject* self, PyObject* const* arguments, size_t flagged_count,
                                 PyObject* keyword_names) {
  nn::Module& module = module_in(self);
  const Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
  if (module.has_call_hooks() || nn::global_hooks().has_call_hooks())
    return from_tree(module.call(to_arguments(arguments, count, keyword_names))).release().ptr();
  if (has_own_forward(self)) return call_python_forward(self, arguments, flagged_count, keyword_names);
  return run_core(self, arguments, count, keyword_names);
}

PyObject* vectorcall_module(PyObject* self, PyObject* const* arguments, size_t flagged_count, PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    if (Parts::any()) [[unlikely]] {
      const auto make = [&] { return nb::borrow(self); };
      PyObject* const result = Parts::call(self, make, arguments, flagged_count, keyword_names);
      if (result || PyErr_Occurred()) return result;
    }
    if (Py_TYPE(self)->tp_call == call_module) [[likely]]
      return call_with_hooks(self, arguments, flagged_count, keyword_names);
    return call_patched(self, arguments, PyVectorcall_NARGS(flagged_count), keyword_names);
  });
}

PyObject* call_module(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    SmallVector<PyObject*, 8> all;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); ++i) all.push_back(PyTuple_GET_ITEM(arguments, i));
    const size_t count = all.size();
    nb::object names;
    if (keywords && PyDict_GET_SIZE(keywords) > 0) {
      names = checked(PyTuple_New(PyDict_GET_SIZE(keywords)));
      PyObject* key = nullptr;
      PyObject* value = nullptr;
      Py_ssize_t i = 0;
      for (Py_ssize_t position = 0; PyDict_Next(keywords, &position, &key, &value);) {
        PyTuple_SET_ITEM(names.ptr(), i++, Py_NewRef(key));
        all.push_back(value);
      }
    }
    return call_with_hooks(self, all.data(), count, names.ptr());
  });
}

PyObject* forward_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  return guarded([&] { return run_core(self, arguments, count, keyword_names); });
}

// Hooks. They may be called on a thread that does not hold the GIL.

std::optional<nn::Arguments> PythonHook::operator()(nn::Module& module, const nn::Arguments& arguments) const {
  const GilAcquire lock;
  const PythonArguments given = python_arguments(arguments);
  const nb::object result = with_kwargs ? function.get()(object_of(module), given.positional, given.named)
                                        : function.get()(object_of(module), given.positional);
  if (result.is_none()) return std::nullopt;
  if (!with_kwargs) return from_python(result, given.named);
  if (!PyTuple_Check(result.ptr()) || PyTuple_GET_SIZE(result.ptr()) != 2)
    throw RuntimeError("forward pre hook: with_kwargs hooks return None or (args, kwargs), got {}",
                       describe(result.ptr()));
  return from_python(PyTuple_GET_ITEM(result.ptr(), 0), PyTuple_GET_ITEM(result.ptr(), 1));
}

std::optional<Tree> PythonHook::operator()(nn::Module& module, const nn::Arguments& arguments,
                                           const Tree& result) const {
  const GilAcquire lock;
  const PythonArguments given = python_arguments(arguments);
  const nb::object output = from_tree(result);
  const nb::object returned = with_kwargs ? function.get()(object_of(module), given.positional, given.named, output)
                                          : function.get()(object_of(module), given.positional, output);
  if (returned.is_none()) return std::nullopt;
  return to_tree(returned);
}

std::optional<nn::Gradients> PythonHook::operator()(nn::Module& module, const nn::Gradients& grad_input,
                                                    const nn::Gradients& grad_output) const {
  const GilAcquire lock;
  return to_gradients(function.get()(object_of(module), tuple_of(grad_input), tuple_of(grad_output)));
}

std::optional<nn::Gradients> PythonHook::operator()(nn::Module& module, const nn::Gradients& grad_output) const {
  const GilAcquire lock;
  return to_gradients(function.get()(object_of(module), tuple_of(grad_output)));
}

}  // namespace lucid::python
