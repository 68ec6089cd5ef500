#pragma once

#include <string>

#include "bindings/errors.h"
#include "bindings/gil.h"
#include "data/byte_source.h"

namespace lucid::python {

/// Functions that read and write files.
/// Runs `body` without the GIL. Failed system calls become the OSError that open() would raise.
template <typename Body>
auto with_file(const Body& body) {
  try {
    const GilRelease release;
    return body();
  } catch (const FileError& error) {
    const nb::object path = checked(PyUnicode_DecodeFSDefault(error.path().c_str()));
    // OSError selects the subclass for the error code.
    const nb::object raised = nb::borrow(PyExc_OSError)(error.code(), error.reason(), path);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
    throw nb::python_error();
  }
}

/// A path as bytes, as os.fsencode() returns it: file names need not be valid text.
inline std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

void bind_files(nb::module_& module);

}  // namespace lucid::python
