#pragma once

#include <lucid/optim.h>

#include <memory>

#include "bindings/errors.h"

namespace lucid::python {

/// The optimizer of a Python object. Throws if the object is not an optimizer.
std::shared_ptr<optim::Optimizer> optimizer_in(nb::handle object);

/// Optimizers and schedules, for lucid.optim.
void bind_optim(nb::module_& module);
void bind_schedules(nb::module_& module);

}  // namespace lucid::python
