// Calls of modules, from Python and from C++.

#include <typeinfo>

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/from_data.h"
#include "bindings/module_object.h"
#include "nn/bridge.h"
#include "nn/hooks.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

/// Maximum nesting depth of module settings.
constexpr int kMaxDepth = 16;

/// A Python object that passes through C++.
class PythonItem : public nn::Foreign {
 public:
  explicit PythonItem(PyObject* object) : object_(nb::borrow(object)) {}
  nn::Item convert() const override {
    const GilAcquire lock;
    PyObject* object = object_.get().ptr();
    if (object == Py_None) return {};
    if (PyBool_Check(object)) return object == Py_True;
    if (TensorImpl* tensor = tensor_or_null(object)) return Tensor(tensor);
    // Arrays have __index__ as well.
    if (PyIndex_Check(object) && !is_any_array(object)) return int64_t{to_int({"module", "argument"}, object)};
    if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
    if (PyUnicode_Check(object)) return std::string(nb::cast<const char*>(nb::handle(object)));
    if (const auto dtype = dtype_in(object)) return *dtype;
    if (PyTuple_Check(object) || PyList_Check(object)) {
      nn::Item::Tuple items;
      const nb::object tuple = checked(PySequence_Tuple(object));
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.ptr()); ++i)
        items.push_back(to_item(PyTuple_GET_ITEM(tuple.ptr(), i)));
      return items;
    }
    return nn::Item(std::make_shared<const PythonItem>(object));
  }
  nn::Item call(const std::vector<nn::Item>& arguments) const override {
    const GilAcquire lock;
    const nb::object positional = checked(PyTuple_New(static_cast<Py_ssize_t>(arguments.size())));
    for (size_t i = 0; i < arguments.size(); ++i)
      PyTuple_SET_ITEM(positional.ptr(), static_cast<Py_ssize_t>(i), to_python(arguments[i]));
    return to_item(checked(PyObject_Call(object(), positional.ptr(), nullptr)).ptr());
  }
  PyObject* object() const { return object_.get().ptr(); }

 private:
  SharedObject object_;
};

/// The arguments of a call as a tuple and a dict.
struct PythonArguments {
  nb::object positional;
  nb::object named;
};

PythonArguments python_arguments(const nn::Arguments& arguments) {
  PythonArguments result;
  result.positional = checked(PyTuple_New(static_cast<Py_ssize_t>(arguments.positional.size())));
  for (size_t i = 0; i < arguments.positional.size(); ++i)
    PyTuple_SET_ITEM(result.positional.ptr(), static_cast<Py_ssize_t>(i), to_python(arguments.positional[i]));
  result.named = checked(PyDict_New());
  for (const auto& [name, item] : arguments.named) {
    const nb::object value = checked(to_python(item));
    check_status(PyDict_SetItemString(result.named.ptr(), name.c_str(), value.ptr()));
  }
  return result;
}

nn::Arguments from_python(nb::handle positional, nb::handle named) {
  nn::Arguments arguments;
  if (PyTuple_Check(positional.ptr()))
    for (const nb::handle item : nb::borrow<nb::tuple>(positional)) arguments.positional.push_back(to_item(item.ptr()));
  else
    arguments.positional.push_back(to_item(positional.ptr()));
  if (named.ptr() && PyDict_Check(named.ptr())) {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t position = 0; PyDict_Next(named.ptr(), &position, &key, &value);)
      arguments.named.emplace_back(nb::cast<const char*>(nb::handle(key)), to_item(value));
  }
  return arguments;
}

nb::object object_of(nn::Module& module) { return nb::steal(to_python(module)); }

nb::object tuple_of(const nn::Gradients& gradients) {
  nb::object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(gradients.size())));
  for (size_t i = 0; i < gradients.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), to_python_or_none(ref_of(gradients[i])));
  return tuple;
}

std::optional<nn::Gradients> to_gradients(const nb::object& returned) {
  if (returned.is_none()) return std::nullopt;
  nn::Gradients gradients;
  if (TensorImpl* tensor = tensor_or_null(returned.ptr())) return nn::Gradients{Tensor(tensor)};
  for (const nn::Item& item : to_item(returned.ptr()).to_tuple()) gradients.push_back(item.to_tensor());
  return gradients;
}

/// Runs the forward of the C++ core, without hooks.
PyObject* run_core(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  nn::Module& module = module_in(self);
  if (typeid(module) == typeid(nn::Module))
    throw NotImplementedError("{}: the module has no forward(); define one", Py_TYPE(self)->tp_name);
  if (count == 1 && !keyword_names) {
    if (TensorImpl* input = tensor_or_null(arguments[0])) {
      return to_python(module.forward_one(Tensor(input)));
    }
  }
  return to_python(module.forward_with(to_arguments(arguments, count, keyword_names)));
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

nn::Item native_item(PyObject* object, int levels) {
  nn::Item item = PythonItem(object).convert();
  if (!item.is_tuple()) return item;
  if (levels == 0) throw ValueError("module setting: nested more than {} deep", kMaxDepth);
  nn::Item::Tuple items;
  for (const nn::Item& part : item.to_tuple()) {
    const auto* foreign = dynamic_cast<const PythonItem*>(part.foreign());
    items.push_back(foreign ? native_item(foreign->object(), levels - 1) : part);
  }
  return items;
}

}  // namespace

nn::Item to_item(PyObject* object) {
  if (object == Py_None) return {};
  if (TensorImpl* tensor = tensor_or_null(object)) return Tensor(tensor);
  return nn::Item(std::make_shared<const PythonItem>(object));
}

nn::Item to_native_item(PyObject* object) { return native_item(object, kMaxDepth); }

PyObject* to_python(const nn::Item& item) {
  struct Converter {
    PyObject* operator()(std::monostate) const { return Py_NewRef(Py_None); }
    PyObject* operator()(bool value) const { return PyBool_FromLong(value); }
    PyObject* operator()(int64_t value) const { return PyLong_FromLongLong(value); }
    PyObject* operator()(double value) const { return PyFloat_FromDouble(value); }
    PyObject* operator()(const std::string& value) const { return PyUnicode_FromString(value.c_str()); }
    PyObject* operator()(Dtype value) const { return Py_NewRef(dtype_object(value)); }
    PyObject* operator()(const Tensor& value) const { return to_python_or_none(ref_of(value)); }
    PyObject* operator()(const nn::Item::Tuple& items) const {
      nb::object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
      for (size_t i = 0; i < items.size(); ++i)
        PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), to_python(items[i]));
      return tuple.release().ptr();
    }
    PyObject* operator()(const std::shared_ptr<const nn::Foreign>& value) const {
      return Py_NewRef(dynamic_cast<const PythonItem&>(*value).object());
    }
  };
  return std::visit(Converter(), item.value());
}

nn::Arguments to_arguments(PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  nn::Arguments result;
  for (Py_ssize_t i = 0; i < count; ++i) result.positional.push_back(to_item(arguments[i]));
  for (Py_ssize_t i = 0; keyword_names && i < PyTuple_GET_SIZE(keyword_names); ++i)
    result.named.emplace_back(nb::cast<const char*>(nb::handle(PyTuple_GET_ITEM(keyword_names, i))),
                              to_item(arguments[count + i]));
  return result;
}

PyObject* vectorcall_module(PyObject* self, PyObject* const* arguments, size_t flagged_count, PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    nn::Module& module = module_in(self);
    const Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
    if (Py_TYPE(self)->tp_call != call_module) return call_patched(self, arguments, count, keyword_names);
    if (module.has_call_hooks() || nn::global_hooks().has_call_hooks())
      return to_python(module.call(to_arguments(arguments, count, keyword_names)));
    if (has_own_forward(self)) return call_python_forward(self, arguments, flagged_count, keyword_names);
    return run_core(self, arguments, count, keyword_names);
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
    nn::Module& module = module_in(self);
    if (module.has_call_hooks() || nn::global_hooks().has_call_hooks())
      return to_python(module.call(to_arguments(all.data(), static_cast<Py_ssize_t>(count), names.ptr())));
    if (has_own_forward(self)) return call_python_forward(self, all.data(), count, names.ptr());
    return run_core(self, all.data(), static_cast<Py_ssize_t>(count), names.ptr());
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

std::optional<nn::Item> PythonHook::operator()(nn::Module& module, const nn::Arguments& arguments,
                                               const nn::Item& result) const {
  const GilAcquire lock;
  const PythonArguments given = python_arguments(arguments);
  const nb::object output = nb::steal(to_python(result));
  const nb::object returned = with_kwargs ? function.get()(object_of(module), given.positional, given.named, output)
                                          : function.get()(object_of(module), given.positional, output);
  if (returned.is_none()) return std::nullopt;
  return to_item(returned.ptr());
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
