#include "capture/builtins.h"

#include <Python.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/errors.h"

namespace lucid::python {
namespace {

/// Functions that recordings do not use, and that tools replace.
constexpr std::string_view kUnused[] = {"breakpoint", "copyright", "credits", "exit",  "help",
                                        "input",      "license",   "open",    "print", "quit"};

/// Names and objects. Never destroyed: the interpreter may be gone by then.
auto& known() {
  static auto* const builtins = new std::vector<std::pair<PyObject*, PyObject*>>;
  return *builtins;
}

PyObject* entries() { return PyModule_GetDict(PyImport_AddModule("builtins")); }

}  // namespace

void remember_builtins() {
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(entries(), &at, &key, &value);) {
    const char* const name = PyUnicode_AsUTF8(key);
    if (!name) throw nb::python_error();
    if (name[0] == '_' || !PyCallable_Check(value) || std::ranges::find(kUnused, name) != std::end(kUnused)) continue;
    known().emplace_back(Py_NewRef(key), Py_NewRef(value));
  }
}

std::string replaced_builtin() {
  PyObject* const now = entries();
  for (const auto& [name, value] : known())
    if (PyDict_GetItemWithError(now, name) != value) return PyUnicode_AsUTF8(name);
  return {};
}

}  // namespace lucid::python
