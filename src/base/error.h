#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace lucid {

/// The exception class in Python. It is part of the interface: tests assert it.
enum class ErrorClass { kValue, kType, kIndex, kRuntime, kMemory, kNotImplemented, kInternal };

/// Base class of all exceptions of this library. The message names the op, the argument and how to fix the error.
class Error : public std::runtime_error {
 public:
  Error(ErrorClass error_class, const std::string& message) : std::runtime_error(message), class_(error_class) {}
  ErrorClass error_class() const { return class_; }

 private:
  ErrorClass class_;
};

/// An error of a fixed class, built from a format string: `throw ValueError("{}: got {}", op, n)`.
template <ErrorClass kClass>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(const std::string& message) : Error(kClass, message) {}
  template <typename First, typename... Rest>
  ErrorOf(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : Error(kClass, fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

using ValueError = ErrorOf<ErrorClass::kValue>;
using TypeError = ErrorOf<ErrorClass::kType>;
using IndexError = ErrorOf<ErrorClass::kIndex>;
using RuntimeError = ErrorOf<ErrorClass::kRuntime>;
using MemoryError = ErrorOf<ErrorClass::kMemory>;
using NotImplementedError = ErrorOf<ErrorClass::kNotImplemented>;

/// A broken internal invariant: never a user error, always a bug to report.
using InternalError = ErrorOf<ErrorClass::kInternal>;

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& message);

/// Checks an invariant in every build; the message is only formatted on failure.
#define LUCID_CHECK(condition, ...)                                                       \
  do {                                                                                    \
    if (!(condition)) [[unlikely]]                                                        \
      ::lucid::fail_check(#condition, __FILE__, __LINE__, ::fmt::format("" __VA_ARGS__)); \
  } while (false)

}  // namespace lucid
