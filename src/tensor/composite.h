#pragma once

#include "ir/op.h"

namespace lucid {

/// Whether the op is made for a number as this operand: promoting ops are, others where a sample has one.
bool takes_number(const Op& op, size_t operand);

/// True for composites that cannot be computed by one plan: those made of views alone, whose results share memory, and
/// those with a part that runs on the host. Found out by expanding the first call of each op.
bool must_emit_parts(const Call& call);

}  // namespace lucid
