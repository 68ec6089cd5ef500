#pragma once

#include "ir/emitter.h"

namespace lucid {

/// Whether the op supports a number as this operand: promoting ops do, other ops do if a sample has one. Otherwise the
/// decomposition expects a value there.
bool takes_number(const Op& op, size_t operand);

/// Emits a composite's decomposition through `e`. Operands are converted to the op's operand_dtype().
Values emit_decomposition(Emitter& e, const Call& call);

/// The same as plans compute it: 16-bit floats are first widened to f32, and results are rounded to `types` once.
Values emit_widened_decomposition(Emitter& e, const Call& call, const std::vector<TensorType>& types);

}  // namespace lucid
