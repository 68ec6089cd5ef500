#pragma once

#include "ir/op.h"

namespace lucid {

/// Whether the call can still raise when it runs, its types being right: a kernel of it checks its operands, or it runs
/// on the host. Composites are followed into what they decompose into for these operands and attributes.
bool may_raise(const Call& call);

}  // namespace lucid
