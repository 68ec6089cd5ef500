#pragma once

#include <cstdint>

#include "spirv/module.h"

namespace lucid::spirv {

/// A value of the function under construction. Operators append instructions; a number as the second operand becomes a
/// constant of the first one's kind. Integers are unsigned, unless a function's name says otherwise. Arithmetic on
/// floats is never contracted, and comparisons of floats are ordered, except !=.
struct Value {
  Module* module = nullptr;
  Id id = 0;
  Kind kind = Kind::kBool;

  explicit operator bool() const { return id != 0; }
};

Value constant(Module& module, Kind kind, uint64_t bits);
/// A constant of the kind of `like`: an integer, or the bits of a float.
Value constant_like(Value like, uint64_t bits);
/// A constant float. `real` must be representable.
Value real(Module& module, Kind kind, double real);

Value operator+(Value x, Value y);
Value operator-(Value x, Value y);
Value operator*(Value x, Value y);
Value operator&(Value x, Value y);
Value operator|(Value x, Value y);
Value operator^(Value x, Value y);
Value operator<<(Value x, Value y);
Value operator>>(Value x, Value y);
Value logical_not(Value x);
Value operator~(Value x);
Value operator==(Value x, Value y);
Value operator!=(Value x, Value y);
Value operator<(Value x, Value y);
Value operator<=(Value x, Value y);
Value operator>(Value x, Value y);
Value operator>=(Value x, Value y);

inline Value operator+(Value x, uint64_t y) { return x + constant_like(x, y); }
inline Value operator-(Value x, uint64_t y) { return x - constant_like(x, y); }
inline Value operator*(Value x, uint64_t y) { return x * constant_like(x, y); }
inline Value operator&(Value x, uint64_t y) { return x & constant_like(x, y); }
inline Value operator|(Value x, uint64_t y) { return x | constant_like(x, y); }
inline Value operator<<(Value x, uint64_t y) { return x << constant_like(x, y); }
inline Value operator>>(Value x, uint64_t y) { return x >> constant_like(x, y); }
inline Value operator==(Value x, uint64_t y) { return x == constant_like(x, y); }
inline Value operator!=(Value x, uint64_t y) { return x != constant_like(x, y); }
inline Value operator<(Value x, uint64_t y) { return x < constant_like(x, y); }
inline Value operator>(Value x, uint64_t y) { return x > constant_like(x, y); }
inline Value operator>=(Value x, uint64_t y) { return x >= constant_like(x, y); }

/// Any binary instruction with a result of the operands' kind, or a bool.
Value binary(spv::Op op, Value x, Value y);
Value compare(spv::Op op, Value x, Value y);
/// An instruction with one operand.
Value unary(spv::Op op, Value x, Kind result);
/// The instructions that are not in SPIR-V itself.
Value extended(GLSLstd450 op, Value x);
/// The same for arithmetic, which must not be contracted.
Value exact(Value value);

Value select(Value condition, Value x, Value y);
Value signed_less(Value x, Value y);
Value shift_right_signed(Value x, Value y);
/// 1 or 0.
Value to_integer(Value condition, Kind kind);
/// Zero-extended, truncated or unchanged.
Value resize(Value x, Kind kind);
/// Sign-extended, truncated or unchanged.
Value sign_extend(Value x, Kind kind);
/// Reinterprets the bits.
Value bitcast(Value x, Kind kind);
/// The integers of a float's width, and back.
Kind bits_kind(Kind kind);
Value bits_of(Value x);
Value absolute(Value x);
/// x * y + z by the gpu's instruction, which need not be fused.
Value device_fma(Value x, Value y, Value z);
Value device_divide(Value x, Value y);
Value device_sqrt(Value x);

}  // namespace lucid::spirv
