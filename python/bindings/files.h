#pragma once

#include "bindings/errors.h"

namespace lucid::python {

/// Functions that read and write files.
void bind_files(nb::module_& module);

}  // namespace lucid::python
