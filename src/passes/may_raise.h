#pragma once

#include "ir/op.h"

namespace lucid {

/// Whether a call whose types are valid can still raise when it runs: one of its kernels checks its operands, or it
/// runs on the host. For composites, examines the decomposition for these operands and attributes.
bool may_raise(const Call& call);

}  // namespace lucid
