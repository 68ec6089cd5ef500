// Calls from C++ modules to Python overrides, and Python dicts as state dicts.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/module_object.h"
#include "nn/bridge.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

PyObject* self_of(const nn::Module& module) { return static_cast<PyObject*>(module.object()); }

nb::object call_method(PyObject* self, PyObject* name, std::initializer_list<PyObject*> arguments) {
  SmallVector<PyObject*, 8> all;
  all.push_back(self);
  for (PyObject* argument : arguments) all.push_back(argument);
  return checked(PyObject_VectorcallMethod(name, all.data(), all.size(), nullptr));
}

/// A state as a Python dict: the dict itself if it is a PythonState, otherwise a copy.
nb::object dict_of(nn::StateDict& state) {
  if (const auto* python = dynamic_cast<PythonState*>(&state)) return nb::borrow(python->dict());
  nb::dict copy;
  for (const std::string& key : state.keys()) copy[key.c_str()] = from_tree(state.get(key));
  return copy;
}

/// Copies changes to a copied dict back into the state.
void write_back(const nb::object& dict, nn::StateDict& state) {
  if (dynamic_cast<PythonState*>(&state)) return;
  const PythonState changed(dict.ptr());
  for (const std::string& key : changed.keys()) state.set(key, changed.get(key));
}

class PythonBridge : public nn::Bridge {
 public:
  void retain(void* object) override {
    const GilAcquire lock;
    Py_INCREF(static_cast<PyObject*>(object));
  }
  void release(void* object) override {
    if (!Py_IsInitialized()) return;
    const GilAcquire lock;
    Py_DECREF(static_cast<PyObject*>(object));
  }
  void retain(void* object, uint32_t times) override {
    const GilAcquire lock;
    for (uint32_t i = 0; i < times; ++i) Py_INCREF(static_cast<PyObject*>(object));
  }

  Tree forward(nn::Module& module, const Tensor& input) override {
    const GilAcquire lock;
    PyObject* self = self_of(module);
    if (!has_own_forward(self)) return module.forward_one(input);
    const nb::object argument = nb::steal(to_python(ref_of(input)));
    return to_tree(call_method(self, module_names().forward, {argument.ptr()}));
  }

  Tree forward_with(nn::Module& module, const nn::Arguments& arguments) override {
    const GilAcquire lock;
    PyObject* self = self_of(module);
    if (!has_own_forward(self)) return module.forward_with(arguments);
    const nb::object method = checked(PyObject_GetAttr(self, module_names().forward));
    const PythonArguments given = python_arguments(arguments);
    return to_tree(checked(PyObject_Call(method.ptr(), given.positional.ptr(), given.named.ptr())));
  }

  std::string type_name(const nn::Module& module) override {
    const GilAcquire lock;
    return nb::cast<std::string>(nb::handle(self_of(module)).type().attr("__name__"));
  }

  std::string extra_repr(const nn::Module& module) override {
    const GilAcquire lock;
    PyObject* self = self_of(module);
    if (!overrides(Py_TYPE(self), module_names().extra_repr)) return module.extra_repr();
    return nb::cast<std::string>(call_method(self, module_names().extra_repr, {}));
  }

  std::string repr(const nn::Module& module) override {
    const GilAcquire lock;
    return nb::cast<std::string>(checked(PyObject_Repr(self_of(module))));
  }

  void train(nn::Module& module, bool mode) override {
    const GilAcquire lock;
    PyObject* self = self_of(module);
    if (overrides(Py_TYPE(self), module_names().train))
      call_method(self, module_names().train, {mode ? Py_True : Py_False});
    else
      module.train(mode);
  }

  bool save_own(nn::Module& module, nn::StateDict& state, const std::string& prefix, bool keep_vars) override {
    const GilAcquire lock;
    PyObject* self = self_of(module);
    if (!overrides(Py_TYPE(self), module_names().save_own)) return false;
    const nb::object dict = dict_of(state);
    const nb::object text = nb::cast(prefix);
    call_method(self, module_names().save_own, {dict.ptr(), text.ptr(), keep_vars ? Py_True : Py_False});
    write_back(dict, state);
    return true;
  }

  bool load_own(nn::Module& module, nn::StateDict& state, const std::string& prefix, nn::LoadResult& result,
                std::vector<std::string>& errors) override {
    const GilAcquire lock;
    PyObject* self = self_of(module);
    if (!overrides(Py_TYPE(self), module_names().load_own)) return false;
    const nb::object dict = dict_of(state);
    const nb::object text = nb::cast(prefix);
    const nb::dict metadata;
    const nb::list missing;
    const nb::list unexpected;
    const nb::list messages;
    call_method(self, module_names().load_own,
                {dict.ptr(), text.ptr(), metadata.ptr(), Py_True, missing.ptr(), unexpected.ptr(), messages.ptr()});
    for (const auto& key : nb::cast<std::vector<std::string>>(missing)) result.missing_keys.push_back(key);
    for (const auto& key : nb::cast<std::vector<std::string>>(unexpected)) result.unexpected_keys.push_back(key);
    for (const auto& message : nb::cast<std::vector<std::string>>(messages)) errors.push_back(message);
    return true;
  }

  std::optional<Tree> extra_state(nn::Module& module) override {
    const GilAcquire lock;
    if (!wants_extra_state(module)) return std::nullopt;
    return to_tree(call_method(self_of(module), module_names().get_extra_state, {}));
  }

  bool wants_extra_state(nn::Module& module) override {
    const GilAcquire lock;
    return overrides(Py_TYPE(self_of(module)), module_names().get_extra_state);
  }

  void set_extra_state(nn::Module& module, const Tree& state) override {
    const GilAcquire lock;
    const nb::object value = from_tree(state);
    call_method(self_of(module), module_names().set_extra_state, {value.ptr()});
  }

  nn::Ptr<nn::Module> clone(nn::Module& module) override {
    const GilAcquire lock;
    const nb::object copy = nb::module_::import_("copy").attr("deepcopy")(nb::handle(self_of(module)));
    return nn::Ptr<nn::Module>(&module_in(copy.ptr()));
  }
};

}  // namespace

void install_bridge() {
  static PythonBridge bridge;
  nn::Bridge::install(&bridge);
}

const ModuleNames& module_names() {
  static const auto name = [](const char* text) { return PyUnicode_InternFromString(text); };
  static const ModuleNames names = {name("forward"),
                                    name("extra_repr"),
                                    name("train"),
                                    name("_save_to_state_dict"),
                                    name("_load_from_state_dict"),
                                    name("get_extra_state"),
                                    name("set_extra_state")};
  return names;
}

bool has_own_forward(PyObject* self) {
  if (overrides(Py_TYPE(self), module_names().forward)) return true;
  PyObject* attributes = module_object(self).attributes;
  return attributes && PyDict_GetItemWithError(attributes, module_names().forward) != nullptr;
}

void PythonState::set(const std::string& key, Tree value) {
  const nb::object object = from_tree(value);
  check_status(PyDict_SetItemString(dict_, key.c_str(), object.ptr()));
}

bool PythonState::has(const std::string& key) const { return PyDict_GetItemString(dict_, key.c_str()) != nullptr; }

Tree PythonState::get(const std::string& key) const {
  PyObject* value = PyDict_GetItemString(dict_, key.c_str());
  if (!value) throw ValueError("load_state_dict: the state has no '{}'", key);
  return to_tree(value);
}

std::vector<std::string> PythonState::keys() const {
  std::vector<std::string> keys;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t position = 0; PyDict_Next(dict_, &position, &key, &value);) {
    if (!PyUnicode_Check(key)) throw TypeError("load_state_dict: keys must be strings");
    keys.emplace_back(nb::cast<const char*>(nb::handle(key)));
  }
  return keys;
}

void PythonHook::operator()(nn::Module& module, const std::string& prefix, bool keep_vars) const {
  const GilAcquire lock;
  function.get()(nb::steal(to_python(module)), prefix, keep_vars);
}

void PythonHook::operator()(nn::Module& module, nn::StateDict& state, const std::string& prefix) const {
  const GilAcquire lock;
  const nb::object dict = dict_of(state);
  function.get()(nb::steal(to_python(module)), dict, prefix, nb::dict());
  write_back(dict, state);
}

void PythonHook::operator()(nn::Module& module, nn::StateDict& state, const std::string& prefix,
                            nn::LoadResult& result) const {
  const GilAcquire lock;
  const nb::object dict = dict_of(state);
  const nb::object missing = nb::cast(result.missing_keys);
  const nb::object unexpected = nb::cast(result.unexpected_keys);
  function.get()(nb::steal(to_python(module)), dict, prefix, nb::dict(), true, missing, unexpected, nb::list());
  result.missing_keys = nb::cast<std::vector<std::string>>(missing);
  result.unexpected_keys = nb::cast<std::vector<std::string>>(unexpected);
  write_back(dict, state);
}

void PythonHook::operator()(nn::Module& module, nn::LoadResult& result) const {
  const GilAcquire lock;
  const nb::object keys =
      nb::module_::import_("lucid.nn.module")
          .attr("IncompatibleKeys")(nb::cast(result.missing_keys), nb::cast(result.unexpected_keys));
  function.get()(nb::steal(to_python(module)), keys);
  result.missing_keys = nb::cast<std::vector<std::string>>(keys.attr("missing_keys"));
  result.unexpected_keys = nb::cast<std::vector<std::string>>(keys.attr("unexpected_keys"));
}

}  // namespace lucid::python
