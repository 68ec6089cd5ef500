#include "bindings/errors.h"

#include <cstdarg>
#include <cstring>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "base/stack.h"

namespace lucid::python {
namespace {

PyObject* internal_error = nullptr;

PyObject* class_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::kValue:
      return PyExc_ValueError;
    case ErrorClass::kType:
      return PyExc_TypeError;
    case ErrorClass::kIndex:
      return PyExc_IndexError;
    case ErrorClass::kRuntime:
      return PyExc_RuntimeError;
    case ErrorClass::kMemory:
      return PyExc_MemoryError;
    case ErrorClass::kNotImplemented:
      return PyExc_NotImplementedError;
    case ErrorClass::kInternal:
      return internal_error ? internal_error : PyExc_RuntimeError;
  }
  return PyExc_RuntimeError;
}

/// Replaces invalid UTF-8: a message may quote text that was truncated in the middle of a character.
void set_error(PyObject* error_class, const char* message) {
  PyObject* text = PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "replace");
  if (!text) return;
  PyErr_SetObject(error_class, text);
  Py_DECREF(text);
}

void set_error(const Error& error) {
  set_error(dynamic_cast<const RecursionError*>(&error) ? PyExc_RecursionError : class_of(error.error_class()),
            error.what());
}

}  // namespace

void set_error_from_exception() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Error& error) {
    set_error(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const nb::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "a value could not be converted between Python and C++");
  } catch (const std::logic_error& error) {
    // The standard library reports broken invariants of our code this way.
    set_error(class_of(ErrorClass::kInternal), error.what());
  } catch (const std::exception& error) {
    set_error(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an unknown C++ exception");
  }
}

void raise_overflow(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyErr_FormatV(PyExc_OverflowError, format, arguments);
  va_end(arguments);
  nb::detail::raise_python_error();
}

void bind_errors(nb::module_& module) {
  internal_error = PyErr_NewExceptionWithDoc("lucid.InternalError",
                                             "A broken invariant of Lucid itself. Always a bug; please report it.",
                                             PyExc_RuntimeError, nullptr);
  module.attr("InternalError") = nb::borrow(internal_error);
  nb::register_exception_translator([](const std::exception_ptr& exception, void*) {
    try {
      std::rethrow_exception(exception);
    } catch (const Error& error) {
      set_error(error);
    }
  });
}

}  // namespace lucid::python
