#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace lucid {

/// The classes of errors. Each has its own exception, and a counterpart in Python.
enum class ErrorClass { kValue, kType, kIndex, kRuntime, kMemory, kNotImplemented, kInternal };

/// Base class of all exceptions of this library. The message names the op, the argument and how to fix the error.
class Error : public std::runtime_error {
 public:
  Error(ErrorClass error_class, const std::string& message);
  ErrorClass error_class() const { return class_; }

 private:
  ErrorClass class_;
};

/// A format string of the library, checked when it is compiled; defined in src/base/error.h.
template <typename... Arguments>
class MessageFormat;

/// An error of one class.
template <ErrorClass kClass>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(const std::string& message) : Error(kClass, message) {}
  /// For the library itself: `throw ValueError("{}: got {}", op, n)`.
  template <typename First, typename... Rest>
  ErrorOf(std::type_identity_t<MessageFormat<First, Rest...>> format, First&& first, Rest&&... rest)
      : Error(kClass, format.message(std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

/// An argument has an invalid value, such as a shape that does not fit.
using ValueError = ErrorOf<ErrorClass::kValue>;
/// An argument has the wrong type or dtype.
using TypeError = ErrorOf<ErrorClass::kType>;
/// An index is out of range.
using IndexError = ErrorOf<ErrorClass::kIndex>;
/// An operation is not possible in the current state, such as a second backward pass through a freed graph.
using RuntimeError = ErrorOf<ErrorClass::kRuntime>;
/// There is not enough memory.
using MemoryError = ErrorOf<ErrorClass::kMemory>;
/// A module or function does not define what was called.
using NotImplementedError = ErrorOf<ErrorClass::kNotImplemented>;
/// A broken invariant of the library: never a user error, always a bug to report.
using InternalError = ErrorOf<ErrorClass::kInternal>;

}  // namespace lucid
#pragma GCC visibility pop
