#include "bindings/gil.h"

#include "base/blocking.h"
#include "base/lock.h"

namespace lucid::python {

bool holds_gil() {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked() != nullptr;
#else
  // Until Python 3.11 the current state is that of whichever thread has the lock.
  PyThreadState* own = PyGILState_GetThisThreadState();
  return own && own == _PyThreadState_UncheckedGet();
#endif
}

PyThreadState* GilRelease::give_up() {
  check_no_lock_is_held("the interpreter's lock is given up");
  return PyEval_SaveThread();
}

void GilRelease::take_back(PyThreadState* state) { PyEval_RestoreThread(state); }

GilAcquire::GilAcquire() {
  if (!holds_gil()) taken_ = PyGILState_Ensure();
}

GilAcquire::~GilAcquire() {
  if (taken_) PyGILState_Release(*taken_);
}

void GilTurns::pass() {
  // As often as the interpreter switches between threads.
  constexpr std::chrono::milliseconds kTurn{5};
  if (std::chrono::steady_clock::now() - last_ < kTurn) return;
  {
    const GilRelease release;
  }
  last_ = std::chrono::steady_clock::now();
}

/// Runs the handlers of signals that have arrived, as every blocking call of Python does.
static void check_signals() {
  if (!Py_IsInitialized()) return;
  const GilAcquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void release_gil_while_blocking() {
  // Not held by threads that know nothing of Python, nor where a caller gave it up already.
  set_blocking_hooks(
      {.begin = []() -> void* { return Py_IsInitialized() && holds_gil() ? GilRelease::give_up() : nullptr; },
       .end = [](void* state) { GilRelease::take_back(static_cast<PyThreadState*>(state)); },
       .check_interrupts = check_signals});
}

}  // namespace lucid::python
