#pragma once

#include "ir/op.h"

namespace lucid {

/// True for composites that cannot be computed by one plan: those made of views alone, whose results share memory, and
/// those with a part that runs on the host. Found out by expanding the first call of each op.
bool must_emit_parts(const Call& call);

}  // namespace lucid
