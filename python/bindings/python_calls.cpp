// Wrappers for the Python C API functions that may run Python code or acquire the interpreter's lock (GIL). C++ calls
// Python only through them: LucidPython.cmake passes them to the linker (`--wrap`).
//
// Daemon threads at process exit. Before 3.14, Python terminates a thread that acquires the GIL during finalization
// with pthread_exit(), which unwinds the thread's stack. Unwinding our frames would release references to Python
// objects without the GIL, and would abort the process (SIGABRT) at the first function that is noexcept or catches all
// exceptions. A wrapper stops the unwinding before it reaches our frames and puts the thread to sleep until the process
// ends, as Python itself does since 3.14. Functions that are not listed here can run Python code only through garbage
// collection; guarded() covers that case.
//
// Recursion. Python counts its own calls, not C++ calls, and users raise its limit. Every recursion through both Python
// and C++ passes a wrapper, which raises RecursionError when the stack is low.

#include <unistd.h>

#include "base/stack.h"
#include "bindings/errors.h"

namespace lucid::python {

void sleep_forever() noexcept {
  for (;;) ::pause();
}

namespace {

template <typename Call>
auto stop_unwinding(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    sleep_forever();
  }
}

template <typename Call>
PyObject* call_python(Call call) {
  if (stack_is_low()) [[unlikely]] {
    PyErr_SetString(PyExc_RecursionError, "nested too deep for the stack of this thread");
    return nullptr;
  }
  return stop_unwinding(call);
}

}  // namespace
}  // namespace lucid::python

#define LUCID_WRAP_WITH(how, result, name, parameters, arguments)           \
  extern "C" {                                                              \
  result lucid_real_##name parameters asm("__real_" #name);                 \
  result lucid_wrapped_##name parameters asm("__wrap_" #name);              \
  result lucid_wrapped_##name parameters {                                  \
    return lucid::python::how([&] { return lucid_real_##name arguments; }); \
  }                                                                         \
  }
#define LUCID_WRAP(result, name, parameters, arguments) \
  LUCID_WRAP_WITH(stop_unwinding, result, name, parameters, arguments)
#define LUCID_WRAP_CALL(result, name, parameters, arguments) \
  LUCID_WRAP_WITH(call_python, result, name, parameters, arguments)

// The GIL.
LUCID_WRAP(void, PyEval_RestoreThread, (PyThreadState * a), (a))
LUCID_WRAP(PyGILState_STATE, PyGILState_Ensure, (), ())
LUCID_WRAP(int, PyErr_CheckSignals, (), ())

// Calls.
LUCID_WRAP_CALL(PyObject*, PyObject_Call, (PyObject * a, PyObject* b, PyObject* c), (a, b, c))
LUCID_WRAP_CALL(PyObject*, PyObject_CallNoArgs, (PyObject * a), (a))
LUCID_WRAP_CALL(PyObject*, PyObject_CallOneArg, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP_CALL(PyObject*, PyObject_CallObject, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP_CALL(PyObject*, PyObject_Vectorcall, (PyObject * a, PyObject* const* b, size_t c, PyObject* d), (a, b, c, d))
LUCID_WRAP_CALL(PyObject*, PyObject_VectorcallMethod, (PyObject * a, PyObject* const* b, size_t c, PyObject* d),
                (a, b, c, d))
LUCID_WRAP(PyObject*, PyEval_EvalCode, (PyObject * a, PyObject* b, PyObject* c), (a, b, c))
LUCID_WRAP(PyObject*, PyImport_ImportModule, (const char* a), (a))
LUCID_WRAP(PyObject*, PyImport_Import, (PyObject * a), (a))

// Attributes.
LUCID_WRAP_CALL(PyObject*, PyObject_GetAttr, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP_CALL(PyObject*, PyObject_GetAttrString, (PyObject * a, const char* b), (a, b))
LUCID_WRAP(int, PyObject_SetAttr, (PyObject * a, PyObject* b, PyObject* c), (a, b, c))
LUCID_WRAP(int, PyObject_SetAttrString, (PyObject * a, const char* b, PyObject* c), (a, b, c))
LUCID_WRAP(int, PyObject_HasAttr, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP(int, PyObject_HasAttrString, (PyObject * a, const char* b), (a, b))
LUCID_WRAP(PyObject*, _PyObject_GenericGetAttrWithDict, (PyObject * a, PyObject* b, PyObject* c, int d), (a, b, c, d))

// Containers, whose keys and items may be instances of Python classes.
LUCID_WRAP_CALL(PyObject*, PyObject_GetItem, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP(int, PyObject_SetItem, (PyObject * a, PyObject* b, PyObject* c), (a, b, c))
LUCID_WRAP(int, PyObject_DelItem, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP(Py_ssize_t, PyObject_Size, (PyObject * a), (a))
LUCID_WRAP(Py_ssize_t, PySequence_Size, (PyObject * a), (a))
LUCID_WRAP_CALL(PyObject*, PySequence_GetItem, (PyObject * a, Py_ssize_t b), (a, b))
LUCID_WRAP(PyObject*, PySequence_Tuple, (PyObject * a), (a))
LUCID_WRAP(PyObject*, PySequence_List, (PyObject * a), (a))
LUCID_WRAP(PyObject*, PySequence_Fast, (PyObject * a, const char* b), (a, b))
LUCID_WRAP(int, PySequence_Contains, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP(PyObject*, PyObject_GetIter, (PyObject * a), (a))
LUCID_WRAP_CALL(PyObject*, PyIter_Next, (PyObject * a), (a))
LUCID_WRAP(PyObject*, PyMapping_Items, (PyObject * a), (a))
LUCID_WRAP(PyObject*, PyDict_GetItemWithError, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP(int, PyDict_SetItem, (PyObject * a, PyObject* b, PyObject* c), (a, b, c))
LUCID_WRAP(int, PyDict_DelItem, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP(int, PyDict_Update, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP(int, PySet_Add, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP(int, PySet_Contains, (PyObject * a, PyObject* b), (a, b))

// Operations that a class may define.
LUCID_WRAP_CALL(PyObject*, PyObject_RichCompare, (PyObject * a, PyObject* b, int c), (a, b, c))
LUCID_WRAP(int, PyObject_RichCompareBool, (PyObject * a, PyObject* b, int c), (a, b, c))
LUCID_WRAP(int, PyObject_IsTrue, (PyObject * a), (a))
LUCID_WRAP(int, PyObject_IsInstance, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP(int, PyObject_IsSubclass, (PyObject * a, PyObject* b), (a, b))
LUCID_WRAP(Py_hash_t, PyObject_Hash, (PyObject * a), (a))
LUCID_WRAP_CALL(PyObject*, PyObject_Str, (PyObject * a), (a))
LUCID_WRAP_CALL(PyObject*, PyObject_Repr, (PyObject * a), (a))
LUCID_WRAP(PyObject*, PyNumber_Index, (PyObject * a), (a))
LUCID_WRAP(PyObject*, PyNumber_Long, (PyObject * a), (a))
LUCID_WRAP(PyObject*, PyNumber_Float, (PyObject * a), (a))
LUCID_WRAP(double, PyFloat_AsDouble, (PyObject * a), (a))
LUCID_WRAP(int, PyObject_GetBuffer, (PyObject * a, Py_buffer* b, int c), (a, b, c))
LUCID_WRAP(void, PyBuffer_Release, (Py_buffer * a), (a))
LUCID_WRAP(void, PyErr_WriteUnraisable, (PyObject * a), (a))
LUCID_WRAP(void, PyErr_NormalizeException, (PyObject * *a, PyObject** b, PyObject** c), (a, b, c))
LUCID_WRAP(void, PyObject_ClearWeakRefs, (PyObject * a), (a))
LUCID_WRAP(void, _Py_Dealloc, (PyObject * a), (a))
