#pragma once

#include "ir/op.h"

namespace lucid {

/// Runs an op's host function on contiguous copies of its operands; numbers are passed as 0-d arrays.
Values compute_on_host(const Call& call);

}  // namespace lucid
