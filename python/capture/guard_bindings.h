#pragma once

#include <nanobind/nanobind.h>

#include "capture/places.h"

namespace lucid::python {

void expect_dict(const char* function, nb::handle dict);
/// What a class says itself.
nb::object class_dict(nb::handle type);
/// A place as GuardSet.writes() describes it. It must outlive the result.
Place to_place(const nb::tuple& place);

/// `_core.GuardSet`.
void bind_guards(nb::module_& module);

}  // namespace lucid::python
