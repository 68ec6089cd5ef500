#pragma once

#include <lucid/nn/module.h>

#include "bindings/gil.h"
#include "bindings/tensor_object.h"
#include "bindings/tree.h"

namespace lucid::python {

/// The Python object of a module: a C++ core that runs without Python, and attributes that only Python uses. The object
/// owns the core. Every reference to the core is a reference to the object, so the garbage collector sees all of them.
struct ModuleObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  nn::Module* module;  // null until Module.__init__ has run
  PyObject* attributes;
  PyObject* weak_references;
};

/// `_core.Module`, which `lucid.nn.Module` derives from. Its metaclass is `type`, so that any mixin works.
extern PyTypeObject* module_type;

inline ModuleObject& module_object(PyObject* self) { return *reinterpret_cast<ModuleObject*>(self); }
inline bool is_module(PyObject* object) { return PyObject_TypeCheck(object, module_type); }
/// The C++ module of a Python object. Throws AttributeError if Module.__init__ has not run.
nn::Module& module_in(PyObject* self);
/// The Python object of a module, as a new reference. Creates it if the module has none.
PyObject* to_python(nn::Module& module);

/// The Python object of a slot's tensor, as a new reference. It lives as long as the slot.
PyObject* object_in(nn::TensorSlot& slot);
/// Registers a tensor's Python object with the slot.
void keep_object(nn::TensorSlot& slot, PyObject* object);

/// The arguments of a call as a tuple and a dict.
struct PythonArguments {
  nb::object positional;
  nb::dict named;
};
PythonArguments python_arguments(const nn::Arguments& arguments);
nn::Arguments to_arguments(PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names);

/// Sets a setting of a module. Returns whether it has one of this name.
bool set_field(nn::Module& module, std::string_view name, PyObject* value);

/// Whether a class overrides a method of lucid.nn.Module. `name` is interned.
bool overrides(PyTypeObject* type, PyObject* name);

/// Whether the object's class, or the object itself, overrides forward().
bool has_own_forward(PyObject* self);

/// A Python function as a hook of any kind.
struct PythonHook {
  SharedObject function;
  bool with_kwargs = false;

  std::optional<nn::Arguments> operator()(nn::Module& module, const nn::Arguments& arguments) const;
  std::optional<Tree> operator()(nn::Module& module, const nn::Arguments& arguments, const Tree& result) const;
  std::optional<nn::Gradients> operator()(nn::Module& module, const nn::Gradients& grad_input,
                                          const nn::Gradients& grad_output) const;
  std::optional<nn::Gradients> operator()(nn::Module& module, const nn::Gradients& grad_output) const;
  void operator()(nn::Module& module, const std::string& prefix, bool keep_vars) const;
  void operator()(nn::Module& module, nn::StateDict& state, const std::string& prefix) const;
  void operator()(nn::Module& module, nn::StateDict& state, const std::string& prefix, nn::LoadResult& result) const;
  void operator()(nn::Module& module, nn::LoadResult& result) const;
};

/// A Python dict as a state dict.
class PythonState : public nn::StateDict {
 public:
  explicit PythonState(PyObject* dict) : dict_(dict) {}
  void set(const std::string& key, Tree value) override;
  bool has(const std::string& key) const override;
  Tree get(const std::string& key) const override;
  std::vector<std::string> keys() const override;
  PyObject* dict() const { return dict_; }

 private:
  PyObject* dict_;
};

// Slots and methods of the type.

PyObject* call_module(PyObject* self, PyObject* arguments, PyObject* keywords);
PyObject* vectorcall_module(PyObject* self, PyObject* const* arguments, size_t flagged_count, PyObject* keyword_names);
PyObject* forward_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names);
/// forward_method for a PyMethodDef.
inline PyCFunction forward_function() { return method(forward_method); }
PyMethodDef* module_methods();
/// Interned names of the methods that C++ looks up.
struct ModuleNames {
  PyObject* forward;
  PyObject* extra_repr;
  PyObject* train;
  PyObject* save_own;
  PyObject* load_own;
  PyObject* get_extra_state;
  PyObject* set_extra_state;
};
const ModuleNames& module_names();
/// Creates the core of an object: an instance of the C++ class that its Python class derives from.
void make_core(PyObject* self);
void install_bridge();
void bind_module_hooks(nb::module_& module);
/// Arguments of the methods of modules.
bool flag(PyObject* object);
void check_count(Py_ssize_t expected, Py_ssize_t count);
/// Adds the hook (kind, function, with_kwargs, always_call, prepend). Returns what removes it.
nb::object add_hook(nn::Module& module, PyObject* const* arguments);
/// The arguments with which add_hook() adds the hooks again, for copies.
nb::list hooks_of(const nn::Module& module);
void bind_modules(nb::module_& module);
/// `_core.models`: networks built from Lucid's modules only.
void bind_models(nb::module_& module);
/// `_core.initializers`, the functions of lucid.nn.init, and parts of lucid.nn.functional.
void bind_nn_functions(nb::module_& module);

}  // namespace lucid::python
