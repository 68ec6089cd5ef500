#pragma once

#include "ir/op.h"

namespace lucid {

/// True for composites that one plan cannot compute: those that consist of views only, whose results share memory, and
/// those with a part that runs on the host. Determined by expanding the first call of each op.
bool must_emit_parts(const Call& call);

}  // namespace lucid
