#pragma once

#include <lucid/tensor.h>

#include <string>

namespace lucid::nn {

/// Numbers and tuples as Python writes them, for what modules print.
std::string number_text(double value);
std::string tuple_text(const Shape& values);
inline const char* bool_text(bool value) { return value ? "True" : "False"; }

}  // namespace lucid::nn
