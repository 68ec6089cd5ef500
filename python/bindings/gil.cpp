#include "bindings/gil.h"

#include "base/blocking.h"

namespace lucid::python {

bool holds_gil() {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked() != nullptr;
#else
  // Up to Python 3.11, the current thread state is that of the thread that holds the GIL.
  PyThreadState* own = PyGILState_GetThisThreadState();
  return own && own == _PyThreadState_UncheckedGet();
#endif
}

PyThreadState* GilRelease::release() {
  check_may_block("the interpreter's lock is released");
  return PyEval_SaveThread();
}

void GilRelease::reacquire(PyThreadState* state) { PyEval_RestoreThread(state); }

GilAcquire::GilAcquire() {
  if (!holds_gil()) taken_ = PyGILState_Ensure();
}

GilAcquire::~GilAcquire() {
  if (taken_) PyGILState_Release(*taken_);
}

void GilYield::yield() {
  // The interpreter's default switch interval.
  constexpr std::chrono::milliseconds kInterval{5};
  if (std::chrono::steady_clock::now() - last_ < kInterval) return;
  {
    const GilRelease release;
  }
  last_ = std::chrono::steady_clock::now();
}

/// Runs the handlers of pending signals, as every blocking call in Python does.
static void check_signals() {
  if (!Py_IsInitialized()) return;
  const GilAcquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void release_gil_while_blocking() {
  // Threads that are not Python's do not hold the lock, and a caller may have released it already.
  set_blocking_hooks(
      {.begin = []() -> void* { return Py_IsInitialized() && holds_gil() ? GilRelease::release() : nullptr; },
       .end = [](void* state) { GilRelease::reacquire(static_cast<PyThreadState*>(state)); },
       .check_interrupts = check_signals});
}

}  // namespace lucid::python
