#pragma once

#include <string>

#include "base/error.h"

namespace lucid {

/// Throws the exception of a class that is known only at run time, such as ValueError for ErrorClass::kValue.
[[noreturn]] void throw_error(ErrorClass error_class, const std::string& message);

}  // namespace lucid
