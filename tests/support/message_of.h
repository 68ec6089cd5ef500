#pragma once

#include <string>

#include "base/error.h"

namespace lucid::test {

/// The message of the error that a function throws.
template <typename E = Error, typename F>
std::string message_of(const F& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  return "did not throw";
}

}  // namespace lucid::test
