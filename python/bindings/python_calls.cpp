// How C++ calls Python: through a stand-in for each function of Python's that may run Python code or take the
// interpreter's lock. LucidPython.cmake tells the linker to put them in place (`--wrap`).
//
// Daemon threads when the process exits. Before 3.14, Python ends a thread that asks for the interpreter's lock while
// the interpreter is being torn down by pthread_exit(), which unwinds the thread's stack. On its way through our frames
// that would drop references to Python objects without the lock, and end the process with SIGABRT at the first function
// that may not throw or that catches everything. A stand-in stops the unwinding before it reaches us and puts the
// thread to sleep until the process ends. That is what Python does from 3.14 on. What is not listed here can run Python
// code only by collecting garbage; guarded() is the second line.
//
// Recursion. Python counts its own calls, not ours, and users raise its limit. Every recursion that goes through both
// passes a stand-in, which raises RecursionError when the stack is low.

#include <unistd.h>

#include "base/stack.h"
#include "bindings/errors.h"

namespace lucid::python {

void sleep_for_good() noexcept {
  for (;;) ::pause();
}

namespace {

template <typename Call>
auto stop_unwinding(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    sleep_for_good();
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

#define LUCID_STAND_IN_BY(how, result, name, parameters, arguments)         \
  extern "C" {                                                              \
  result lucid_real_##name parameters asm("__real_" #name);                 \
  result lucid_stand_in_##name parameters asm("__wrap_" #name);             \
  result lucid_stand_in_##name parameters {                                 \
    return lucid::python::how([&] { return lucid_real_##name arguments; }); \
  }                                                                         \
  }
#define LUCID_STAND_IN(result, name, parameters, arguments) \
  LUCID_STAND_IN_BY(stop_unwinding, result, name, parameters, arguments)
#define LUCID_CALL(result, name, parameters, arguments) \
  LUCID_STAND_IN_BY(call_python, result, name, parameters, arguments)

// The lock itself.
LUCID_STAND_IN(void, PyEval_RestoreThread, (PyThreadState * a), (a))
LUCID_STAND_IN(PyGILState_STATE, PyGILState_Ensure, (), ())
LUCID_STAND_IN(int, PyErr_CheckSignals, (), ())

// Calls.
LUCID_CALL(PyObject*, PyObject_Call, (PyObject * a, PyObject* b, PyObject* c), (a, b, c))
LUCID_CALL(PyObject*, PyObject_CallNoArgs, (PyObject * a), (a))
LUCID_CALL(PyObject*, PyObject_CallOneArg, (PyObject * a, PyObject* b), (a, b))
LUCID_CALL(PyObject*, PyObject_CallObject, (PyObject * a, PyObject* b), (a, b))
LUCID_CALL(PyObject*, PyObject_Vectorcall, (PyObject * a, PyObject* const* b, size_t c, PyObject* d), (a, b, c, d))
LUCID_CALL(PyObject*, PyObject_VectorcallMethod, (PyObject * a, PyObject* const* b, size_t c, PyObject* d),
           (a, b, c, d))
LUCID_STAND_IN(PyObject*, PyEval_EvalCode, (PyObject * a, PyObject* b, PyObject* c), (a, b, c))
LUCID_STAND_IN(PyObject*, PyImport_ImportModule, (const char* a), (a))
LUCID_STAND_IN(PyObject*, PyImport_Import, (PyObject * a), (a))

// Attributes.
LUCID_CALL(PyObject*, PyObject_GetAttr, (PyObject * a, PyObject* b), (a, b))
LUCID_CALL(PyObject*, PyObject_GetAttrString, (PyObject * a, const char* b), (a, b))
LUCID_STAND_IN(int, PyObject_SetAttr, (PyObject * a, PyObject* b, PyObject* c), (a, b, c))
LUCID_STAND_IN(int, PyObject_SetAttrString, (PyObject * a, const char* b, PyObject* c), (a, b, c))
LUCID_STAND_IN(int, PyObject_HasAttr, (PyObject * a, PyObject* b), (a, b))
LUCID_STAND_IN(int, PyObject_HasAttrString, (PyObject * a, const char* b), (a, b))
LUCID_STAND_IN(PyObject*, _PyObject_GenericGetAttrWithDict, (PyObject * a, PyObject* b, PyObject* c, int d),
               (a, b, c, d))

// Containers, whose keys and items may be of a class that is written in Python.
LUCID_CALL(PyObject*, PyObject_GetItem, (PyObject * a, PyObject* b), (a, b))
LUCID_STAND_IN(int, PyObject_SetItem, (PyObject * a, PyObject* b, PyObject* c), (a, b, c))
LUCID_STAND_IN(int, PyObject_DelItem, (PyObject * a, PyObject* b), (a, b))
LUCID_STAND_IN(Py_ssize_t, PyObject_Size, (PyObject * a), (a))
LUCID_STAND_IN(Py_ssize_t, PySequence_Size, (PyObject * a), (a))
LUCID_CALL(PyObject*, PySequence_GetItem, (PyObject * a, Py_ssize_t b), (a, b))
LUCID_STAND_IN(PyObject*, PySequence_Tuple, (PyObject * a), (a))
LUCID_STAND_IN(PyObject*, PySequence_List, (PyObject * a), (a))
LUCID_STAND_IN(PyObject*, PySequence_Fast, (PyObject * a, const char* b), (a, b))
LUCID_STAND_IN(int, PySequence_Contains, (PyObject * a, PyObject* b), (a, b))
LUCID_STAND_IN(PyObject*, PyObject_GetIter, (PyObject * a), (a))
LUCID_CALL(PyObject*, PyIter_Next, (PyObject * a), (a))
LUCID_STAND_IN(PyObject*, PyMapping_Items, (PyObject * a), (a))
LUCID_STAND_IN(PyObject*, PyDict_GetItemWithError, (PyObject * a, PyObject* b), (a, b))
LUCID_STAND_IN(int, PyDict_SetItem, (PyObject * a, PyObject* b, PyObject* c), (a, b, c))
LUCID_STAND_IN(int, PyDict_DelItem, (PyObject * a, PyObject* b), (a, b))
LUCID_STAND_IN(int, PyDict_Update, (PyObject * a, PyObject* b), (a, b))
LUCID_STAND_IN(int, PySet_Add, (PyObject * a, PyObject* b), (a, b))
LUCID_STAND_IN(int, PySet_Contains, (PyObject * a, PyObject* b), (a, b))

// What a class may define.
LUCID_CALL(PyObject*, PyObject_RichCompare, (PyObject * a, PyObject* b, int c), (a, b, c))
LUCID_STAND_IN(int, PyObject_RichCompareBool, (PyObject * a, PyObject* b, int c), (a, b, c))
LUCID_STAND_IN(int, PyObject_IsTrue, (PyObject * a), (a))
LUCID_STAND_IN(int, PyObject_IsInstance, (PyObject * a, PyObject* b), (a, b))
LUCID_STAND_IN(int, PyObject_IsSubclass, (PyObject * a, PyObject* b), (a, b))
LUCID_STAND_IN(Py_hash_t, PyObject_Hash, (PyObject * a), (a))
LUCID_CALL(PyObject*, PyObject_Str, (PyObject * a), (a))
LUCID_CALL(PyObject*, PyObject_Repr, (PyObject * a), (a))
LUCID_STAND_IN(PyObject*, PyNumber_Index, (PyObject * a), (a))
LUCID_STAND_IN(PyObject*, PyNumber_Long, (PyObject * a), (a))
LUCID_STAND_IN(PyObject*, PyNumber_Float, (PyObject * a), (a))
LUCID_STAND_IN(double, PyFloat_AsDouble, (PyObject * a), (a))
LUCID_STAND_IN(int, PyObject_GetBuffer, (PyObject * a, Py_buffer* b, int c), (a, b, c))
LUCID_STAND_IN(void, PyBuffer_Release, (Py_buffer * a), (a))
LUCID_STAND_IN(void, PyErr_WriteUnraisable, (PyObject * a), (a))
LUCID_STAND_IN(void, PyErr_NormalizeException, (PyObject * *a, PyObject** b, PyObject** c), (a, b, c))
LUCID_STAND_IN(void, PyObject_ClearWeakRefs, (PyObject * a), (a))
LUCID_STAND_IN(void, _Py_Dealloc, (PyObject * a), (a))
