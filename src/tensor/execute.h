#pragma once

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// Computes a call immediately. Operands are tensors or numbers; results are new roots. Does not record gradients: the
/// caller does. View ops are computed too, as copies. Throws the errors of the op's shape rule and of its kernels.
Values execute(const Call& call);

/// Computes a call into the memory of `destinations`, one for each result. The results must have their shapes and are
/// converted to their dtypes. Destinations must not overlap each other. They may overlap operands in any way: operands
/// are read before they are overwritten. The caller has dealt with snapshots.
void execute_into(const Call& call, std::span<TensorImpl* const> destinations);

}  // namespace lucid
