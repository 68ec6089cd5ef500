#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include <type_traits>

namespace lucid::python {

namespace nb = nanobind;

/// Sets the Python error from the C++ exception in flight. lucid::Error becomes the Python class that its ErrorClass
/// names.
void set_error_from_exception() noexcept;

/// The return value of a slot that signals an error: null for objects, -1 for numbers.
template <typename T>
constexpr T error_value() {
  if constexpr (std::is_pointer_v<T>)
    return nullptr;
  else
    return static_cast<T>(-1);
}

/// Parks a thread that Python terminates while the process exits: see python_calls.cpp.
[[noreturn]] void sleep_forever() noexcept;

/// Runs the body of a function that Python calls directly and converts its exceptions to Python errors. An exception
/// that escaped into Python would terminate the process.
template <typename Body>
auto guarded(Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const abi::__forced_unwind&) {
    sleep_forever();
  } catch (...) {
    set_error_from_exception();
    return error_value<decltype(body())>();
  }
}

/// Takes ownership of a new reference, or throws the Python error that is set if it is null.
inline nb::object checked(PyObject* object) {
  if (!object) nb::detail::raise_python_error();
  return nb::steal(object);
}

/// Throws the Python error that is set if `status` is negative.
inline void check_status(int status) {
  if (status < 0) nb::detail::raise_python_error();
}

/// A function as a PyMethodDef stores it.
template <typename F>
PyCFunction method(F* function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// Throws OverflowError. Used for every integer that does not fit.
[[noreturn]] void raise_overflow(const char* format, ...);

void bind_errors(nb::module_& module);

}  // namespace lucid::python
