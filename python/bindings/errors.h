#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include <type_traits>

namespace lucid::python {

namespace nb = nanobind;

/// Makes the C++ exception in flight the current Python error. lucid::Error becomes the Python class that its
/// ErrorClass names.
void set_error_from_exception() noexcept;

/// What a slot returns after an error: null for objects, -1 for numbers.
template <typename T>
constexpr T error_value() {
  if constexpr (std::is_pointer_v<T>)
    return nullptr;
  else
    return static_cast<T>(-1);
}

/// Where a thread ends up that Python ends while the process exits: see python_calls.cpp.
[[noreturn]] void sleep_for_good() noexcept;

/// Runs the body of a function that Python calls directly. An exception that left it would end the process.
template <typename Body>
auto guarded(Body&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const abi::__forced_unwind&) {
    sleep_for_good();
  } catch (...) {
    set_error_from_exception();
    return error_value<decltype(body())>();
  }
}

/// Takes over a new reference, or throws the Python error that is set.
inline nb::object checked(PyObject* object) {
  if (!object) nb::detail::raise_python_error();
  return nb::steal(object);
}

/// Throws the Python error that is set if a call reported one.
inline void check_status(int status) {
  if (status < 0) nb::detail::raise_python_error();
}

/// Throws OverflowError: how every integer that does not fit is reported.
[[noreturn]] void raise_overflow(const char* format, ...);

void bind_errors(nb::module_& module);

}  // namespace lucid::python
