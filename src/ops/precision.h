#pragma once

#include "ir/op.h"

namespace lucid {

/// Whether an op accumulates sums or products in its result, element by element. For 16-bit floats the op then computes
/// in f32 and rounds the result once; otherwise every addition or multiplication would round.
inline bool accumulates_in_memory(const Op& op) {
  const auto* scatter = std::get_if<ScatterLowering>(&op.lowering);
  return scatter && (scatter->combine == ScatterCombine::kAdd || scatter->combine == ScatterCombine::kMul);
}

/// Emits the call with its 16-bit float operands converted to f32, and converts the result back.
inline Value emit_widened(Emitter& e, const Call& call) {
  Values widened;
  std::vector<Operand> operands(call.operands().begin(), call.operands().end());
  for (Operand& operand : operands) {
    if (!operand.is_value() || operand.dtype() != call.dtype(0)) continue;
    widened.push_back(e.cast(Value(Ref<ValueBase>(const_cast<ValueBase*>(operand.value()))), Dtype::kF32));
    operand = Operand(widened.back());
  }
  return e.cast(e.emit_one(call.op(), operands, call.attributes()), call.dtype(0));
}

}  // namespace lucid
