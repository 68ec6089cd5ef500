#pragma once

#include "ops/reference.h"
#include "ops/rules.h"

/// What ops share that place elements by indices.
namespace lucid {

/// Combines one element into another, as scatters do, in the dtype that kernels compute in.
void reference_combine(ScatterCombine combine, const HostArray& out, int64_t to, const HostArray& source, int64_t from);

/// Throws TypeError unless the operand `source` has the dtype of operand 0.
void check_source(const Call& call, size_t source);

/// Each element's row-major number, for finding out which of several writes to one place came last.
Value numbers_of(Emitter& e, const Dims& shape);

}  // namespace lucid
