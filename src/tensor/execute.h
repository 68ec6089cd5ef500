#pragma once

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// Computes a call now. Operands are tensors or numbers; results are new roots. Knows nothing of gradients: the caller
/// records. View ops are computed too (their result is a copy). Throws what the op's shape rule or its kernels' checks
/// raise.
Values execute(const Call& call);

/// Computes a call with one result into the memory of `destination`, whose shape the result must have; the result is
/// converted to its dtype. Operands that overlap the destination in any way are read before it is written. The caller
/// has taken care of snapshots.
void execute_into(const Call& call, TensorImpl& destination);

}  // namespace lucid
