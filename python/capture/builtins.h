#pragma once

#include <string>

namespace lucid::python {

/// Notes the builtin functions and types as they are when Lucid is imported.
void remember_builtins();
/// The name of one that a program has replaced since, which the recorder and what it calls of the standard library may
/// use; empty if there is none.
std::string replaced_builtin();

}  // namespace lucid::python
