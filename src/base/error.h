#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "lucid/error.h"

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

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& message);

/// Checks an invariant in every build; the message is only formatted on failure.
#define LUCID_CHECK(condition, ...)                                                       \
  do {                                                                                    \
    if (!(condition)) [[unlikely]]                                                        \
      ::lucid::fail_check(#condition, __FILE__, __LINE__, ::fmt::format("" __VA_ARGS__)); \
  } while (false)

}  // namespace lucid
