#pragma once

#include <nanobind/nanobind.h>

#include <utility>

namespace lucid::python {

namespace nb = nanobind;

/// Declares a bound function, or the methods of a type, pure: they read and change only tensors, which recordings see,
/// and values that guards compare, so a compiled call need not call them again. Everything else counts as impure.
/// `_core.pure` is the set of declared objects; lucid/_effects.py does the same for Python code.
inline void declare_pure(nb::module_& module, nb::handle function_or_type) {
  if (!nb::hasattr(module, "pure")) module.attr("pure") = nb::set();
  nb::cast<nb::set>(module.attr("pure")).add(function_or_type);
}

/// Binds a pure function.
template <typename... Arguments>
void def_pure(nb::module_& module, const char* name, Arguments&&... arguments) {
  module.def(name, std::forward<Arguments>(arguments)...);
  declare_pure(module, module.attr(name));
}

}  // namespace lucid::python
