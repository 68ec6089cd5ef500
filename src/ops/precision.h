#pragma once

#include "ir/op.h"

namespace lucid {

/// Whether an op adds or multiplies into its result element by element. 16-bit floats then become f32 first, and the
/// result is rounded once: otherwise every step would round.
inline bool accumulates_in_memory(const Op& op) {
  const auto* scatter = std::get_if<ScatterLowering>(&op.lowering);
  return scatter && (scatter->combine == ScatterCombine::kAdd || scatter->combine == ScatterCombine::kMul);
}

/// The call on f32 instead of 16-bit floats, by an emitter; the result is converted back.
inline Value emit_widened(Emitter& e, const Call& call) {
  Values held;
  std::vector<Operand> operands(call.operands().begin(), call.operands().end());
  for (Operand& operand : operands) {
    if (!operand.is_value() || operand.dtype() != call.dtype(0)) continue;
    held.push_back(e.cast(Value(Ref<ValueBase>(const_cast<ValueBase*>(operand.value()))), Dtype::kF32));
    operand = Operand(held.back());
  }
  return e.cast(e.emit_one(call.op(), operands, call.attributes()), call.dtype(0));
}

}  // namespace lucid
