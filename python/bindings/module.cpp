// lucid._core, the extension module behind the package `lucid`.

#include <nanobind/nanobind.h>

#include "base/options.h"
#include "bindings/autograd.h"
#include "bindings/dtype_object.h"
#include "bindings/errors.h"
#include "bindings/files.h"
#include "bindings/gil.h"
#include "bindings/interop.h"
#include "bindings/jit.h"
#include "bindings/module_object.h"
#include "bindings/op_function.h"
#include "bindings/optim.h"
#include "bindings/random.h"
#include "bindings/tensor_object.h"
#include "capture/guards.h"

// NB_MODULE defines the module's init function. It is renamed here, because our own PyInit__core below wraps it.
#define PyInit__core make_core_definition
NB_MODULE(_core, module) {
  using namespace lucid::python;
  // Off by default: a reference cycle in user code is not a leak of Lucid.
  nanobind::set_leak_warnings(lucid::options().logs("leaks"));
  release_gil_while_blocking();
  bind_errors(module);
  bind_dtypes(module);
  bind_tensor(module);
  bind_random(module);
  bind_ops(module);
  bind_op_table(module);
  bind_creation(module);
  bind_dlpack(module);
  bind_autograd(module);
  bind_optim(module);
  bind_files(module);
  bind_settings(module);
  bind_gpu(module);
  bind_modules(module);
  bind_nn_functions(module);
  bind_models(module);
  bind_capture(module);
  bind_jit(module);
  bind_program(module);
  bind_signatures(module);
}
#undef PyInit__core

namespace {

/// Tensors, caches and the Python classes that C++ refers to are global to the process, and Python objects of one
/// interpreter must not be used in another.
int refuse_subinterpreter() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return 0;
  PyErr_SetString(
      PyExc_ImportError,
      "lucid cannot be imported in a subinterpreter: its state is shared by the whole process; import it in "
      "the main interpreter, or use another process");
  return -1;
}

int execute_in_main(PyObject* module) { return refuse_subinterpreter() == 0 ? nanobind__core_exec(module) : -1; }

}  // namespace

// NOLINTNEXTLINE(bugprone-reserved-identifier): Python calls the function by this name
extern "C" NB_EXPORT PyObject* PyInit__core() {
  if (refuse_subinterpreter() != 0) return nullptr;
  PyObject* definition = make_core_definition();
  if (!definition) return nullptr;
  // Since Python 3.13, this function runs in the main interpreter even if a subinterpreter imports the module.
  for (PyModuleDef_Slot* slot = reinterpret_cast<PyModuleDef*>(definition)->m_slots; slot->slot != 0; ++slot)
    if (slot->slot == Py_mod_exec) slot->value = reinterpret_cast<void*>(execute_in_main);
  return definition;
}
