#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "lucid/error.h"
#include "lucid/sym_int.h"

/// Writes the value, in messages and other texts on which nothing that is recorded depends.
template <>
struct fmt::formatter<lucid::SymInt> : fmt::formatter<int64_t> {
  auto format(lucid::SymInt dim, fmt::format_context& context) const {
    return fmt::formatter<int64_t>::format(dim.unguarded(), context);
  }
};

namespace lucid {

template <typename... Arguments>
class MessageFormat {
 public:
  template <typename Text>
  consteval MessageFormat(const Text& text) : format_(text) {}  // NOLINT

  template <typename... Given>
  std::string message(Given&&... arguments) const {
    return fmt::format(format_, std::forward<Given>(arguments)...);
  }

 private:
  fmt::format_string<Arguments...> format_;
};

/// How many errors this thread has made. It tells whether code has failed that caught its errors.
uint64_t errors_made();

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& message);

/// Checks an invariant in every build; the message is only formatted on failure.
#define LUCID_CHECK(condition, ...)                                                       \
  do {                                                                                    \
    if (!(condition)) [[unlikely]]                                                        \
      ::lucid::fail_check(#condition, __FILE__, __LINE__, ::fmt::format("" __VA_ARGS__)); \
  } while (false)

}  // namespace lucid
