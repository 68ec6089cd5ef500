#pragma once

#include "lucid/nn/module.h"

namespace lucid::nn {

/// Tells a recording that it depends on a module, because it calls, reads or changes it: on everything but the modes of
/// the module and of those below it, which may return to what they were.
void on_use(const Module& module);

}  // namespace lucid::nn
