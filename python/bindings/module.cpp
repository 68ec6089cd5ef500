// lucid._core: what the package `lucid` is made of.

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

NB_MODULE(_core, module) {
  using namespace lucid::python;
  // Objects that a user's reference cycle keeps alive are no concern of other users.
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
  bind_modules(module);
  bind_nn_functions(module);
  bind_models(module);
  bind_capture(module);
  bind_jit(module);
}
