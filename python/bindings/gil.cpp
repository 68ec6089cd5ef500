#include "bindings/gil.h"

#include "base/blocking.h"

namespace lucid::python {

void release_gil_while_blocking() {
  // Not held by threads that know nothing of Python, nor where a caller gave it up already.
  set_blocking_hooks(
      {.begin = []() -> void* { return Py_IsInitialized() && PyGILState_Check() ? PyEval_SaveThread() : nullptr; },
       .end = [](void* state) { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); }});
}

}  // namespace lucid::python
