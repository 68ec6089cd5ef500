#pragma once

#include <Python.h>

#include <string>

#include "bindings/errors.h"

namespace lucid::python {

/// Whether a program cannot tell two values apart: the same object, or equal numbers, text and the like. Runs no code
/// of users. Null stands for a value that is missing.
bool same(PyObject* before, PyObject* now);

/// A value in a message: numbers and text as they are, the type of anything else. Runs no code of users.
std::string words_of(PyObject* value);

/// What is to be said about a place that changed.
struct Difference {
  std::string place;
  /// What the code calls it.
  std::string name;
  std::string before;
  std::string now;
};

/// A number that changes whenever the dict does; 0 where Python has none, and then every look must be a close one.
inline uint64_t version_of([[maybe_unused]] PyObject* dict) {
#if PY_VERSION_HEX < 0x030D0000
  return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
#else
  return 0;
#endif
}

}  // namespace lucid::python
