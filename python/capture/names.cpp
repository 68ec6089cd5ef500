// The one file that looks into dicts of the interpreter: which kinds of keys a dict has is not part of Python's API.
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_dict.h>

#include "capture/values.h"

namespace lucid::python {

bool has_only_names(PyObject* dict) {
  return reinterpret_cast<PyDictObject*>(dict)->ma_keys->dk_kind != DICT_KEYS_GENERAL;
}

PyObject* find_name(PyObject* dict, PyObject* name) {
  if (has_only_names(dict)) {
    PyObject* found = _PyDict_GetItem_KnownHash(dict, name, PyObject_Hash(name));
    if (!found) PyErr_Clear();
    return found;
  }
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);)
    if (PyUnicode_CheckExact(key) && (key == name || PyUnicode_Compare(key, name) == 0)) return value;
  return nullptr;
}

}  // namespace lucid::python
