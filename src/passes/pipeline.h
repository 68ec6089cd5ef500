#pragma once

#include "passes/pass.h"

namespace lucid {

/// The only list of the standard passes, in order.
PassList standard_passes();

}  // namespace lucid
