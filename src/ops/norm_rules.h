#pragma once

#include "ops/rules.h"

/// Shared by the normalizations.
namespace lucid {

inline Value optional_input(std::span<const Value> in, size_t i) { return i < in.size() ? in[i] : Value(); }
inline Operand operand_or_none(const Value& value) { return value ? Operand(value) : Operand(); }

/// 1 / sqrt(variance + eps).
inline Value inverse_deviation(Emitter& e, const Call& call, const Value& variance) {
  return e.rsqrt(e.add(variance, call.real("eps")));
}

inline void check_floats(const Call& call, size_t i, const char* what) {
  if (!call.operand(i).is_value() || !is_float(call.dtype(i)))
    throw TypeError("{}: {} must be a floating-point tensor, got {}", call.name(), what,
                    to_string(call.operand(i).type()));
}

/// Throws unless a weight or bias is absent or a floating-point tensor of shape `shape`.
inline void check_affine(const Call& call, size_t i, const char* what, const Dims& shape) {
  if (!call.has(i)) return;
  check_floats(call, i, what);
  if (call.shape(i) != shape)
    throw ValueError("{}: {} must have shape {} for {}, got {}", call.name(), what, to_string(shape),
                     to_string(call.operand(0).type()), to_string(call.operand(i).type()));
}

}  // namespace lucid
