#pragma once

#include <lucid/tree.h>

#include <string>

namespace lucid::nn {

/// Numbers and tuples in Python's notation, for repr().
std::string number_text(double value);
std::string tuple_text(const Shape& values);
/// A setting in Python's notation.
std::string tree_text(const Tree& tree);
inline const char* bool_text(bool value) { return value ? "True" : "False"; }

}  // namespace lucid::nn
