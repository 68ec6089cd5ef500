#pragma once

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// Computes a call now. Operands are tensors or numbers; results are new roots. Knows nothing of gradients: the caller
/// records. View ops are computed too (their result is a copy). Throws what the op's shape rule or its kernels' checks
/// raise.
Values execute(const Call& call);

/// Computes a call into the memory of `destinations`, one for each result, whose shapes the results must have; they are
/// converted to the destinations' dtypes. Destinations do not overlap one another. Operands that overlap them in any
/// way are read before they are written. The caller has taken care of snapshots.
void execute_into(const Call& call, std::span<TensorImpl* const> destinations);

}  // namespace lucid
