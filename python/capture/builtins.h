#pragma once

#include <string>

namespace lucid::python {

/// Keeps the builtin functions and types as they are when Lucid is imported.
void remember_builtins();
/// The name of a builtin that a program has replaced since and that the recorder may use, directly or through the
/// standard library; empty if there is none.
std::string replaced_builtin();

}  // namespace lucid::python
