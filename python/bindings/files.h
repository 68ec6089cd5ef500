#pragma once

#include "bindings/errors.h"

namespace lucid::python {

/// Reading and writing of files.
void bind_files(nb::module_& module);

}  // namespace lucid::python
