#pragma once

#include "ir/emitter.h"

namespace lucid {

/// Whether the op is made for a number as this operand: promoting ops are, others where a sample has one.
/// The decompositions of others read a value there.
bool takes_number(const Op& op, size_t operand);

/// What a composite computes, by its decomposition through `e`. Operands are converted to the op's operand_dtype().
Values emit_decomposition(Emitter& e, const Call& call);

/// The same as plans compute it: 16-bit floats are widened to f32 before, and results are rounded to `types` once.
Values emit_widened_decomposition(Emitter& e, const Call& call, const std::vector<TensorType>& types);

}  // namespace lucid
