#pragma once

#include "ops/reference.h"
#include "ops/rules.h"

/// Shared parts of ops that write elements at given indices.
namespace lucid {

/// Combines element `from` of `source` into element `to` of `out`, in the dtype that kernels compute in.
void reference_combine(ScatterCombine combine, const HostArray& out, int64_t to, const HostArray& source, int64_t from);

/// Throws TypeError unless the operand `source` has the dtype of operand 0.
void check_source(const Call& call, size_t source);

/// The row-major index of each element of a tensor of this shape. Gradients of scatters use it to find the last of
/// several writes to one position.
Value row_major_indices(Emitter& e, const Dims& shape);

}  // namespace lucid
