#include <cmath>

#include "spirv/translator.h"

namespace lucid::spirv {

using spv::Op;

// Conversions of 16-bit floats to and from every other type go through f32.
Value Translator::convert(Value value, Dtype from, Dtype to) {
  if (from == to) return value;
  if (from == Dtype::kF16) return convert(f16_to_f32(value), Dtype::kF32, to);
  if (from == Dtype::kBF16) return convert(bf16_to_f32(value), Dtype::kF32, to);
  if (is_half(to)) {
    const Value rounded = convert(value, from, Dtype::kF32);
    return to == Dtype::kF16 ? f32_to_f16(rounded) : f32_to_bf16(rounded);
  }

  const Kind kind = kind_of(to);
  if (is_bool(to)) return value != constant_like(value, 0);
  if (is_bool(from)) {
    if (!is_float(to)) return to_integer(value, kind);
    return select(value, real(module_, kind, 1), real(module_, kind, 0));
  }
  if (is_float(from)) {
    if (to == Dtype::kF64) return unary(Op::OpFConvert, value, kind);
    // Drivers drop the rounding of a number that is converted to f64 again, unless they cannot see it.
    return to == Dtype::kF32 ? hidden(f64_to_f32(value)) : float_to_integer(value, to);
  }
  if (is_float(to)) return unary(is_signed(from) ? Op::OpConvertSToF : Op::OpConvertUToF, value, kind);
  return is_signed(from) ? sign_extend(value, kind) : resize(value, kind);
}

// By way of i32 or i64. OpConvertFToS is undefined for numbers that its result cannot represent.
Value Translator::float_to_integer(Value value, Dtype to) {
  const auto bits = static_cast<int>(8 * size_of(to));
  const bool with_sign = is_signed(to);
  const Value low = real(module_, value.kind, with_sign ? -std::ldexp(1.0, bits - 1) : 0);
  const Value limit = real(module_, value.kind, std::ldexp(1.0, with_sign ? bits - 1 : bits));
  const Value truncated = extended(GLSLstd450Trunc, value);
  const Value is_low = truncated < low, is_high = truncated >= limit;
  const Value is_inside = (truncated >= low) & (truncated < limit);
  const Value zero = real(module_, value.kind, 0);
  const Kind wide = bits == 64 ? Kind::kU64 : Kind::kU32;
  const Value whole = resize(unary(Op::OpConvertFToS, select(is_inside, truncated, zero), wide), kind_of(to));
  const uint64_t least = with_sign ? uint64_t{1} << (bits - 1) : 0;
  const uint64_t most = with_sign ? least - 1 : (uint64_t{1} << bits) - 1;
  return select(is_low, constant_like(whole, least), select(is_high, constant_like(whole, most), whole));
}

Value Translator::f64_to_f32(Value value) {
  const Value result = unary(Op::OpFConvert, value, Kind::kF32);
  if (!target_.flush_results) return result;
  // Numbers from here on are at least the smallest normal one when rounded to the bits of a normal number.
  const Value limit = real(module_, Kind::kF64, 0x1p-126 - 0x1p-151);
  return flushed_if(absolute(value) < limit, result);
}

// The 16-bit floats are converted with integers, as on CPUs that have no instruction for it.

Value Translator::f16_to_f32(Value half) {
  const Value wide = resize(half, Kind::kU32);
  const Value sign = (wide & 0x8000) << 16;
  const Value magnitude = wide & 0x7fff;
  // The exponent's bias grows from 15 to 127; the exponent of infinities and NaNs grows from 31 to 255.
  const Value moved = magnitude << 13;
  const Value normal = moved + (112u << 23);
  const Value quiet = select(magnitude > 0x7c00, u32(1u << 22), u32(0));
  const Value special = (moved + (224u << 23)) | quiet;
  // A denormal is a small integer times 2^-24, exact and normal in f32.
  const Value denormal = unary(Op::OpConvertUToF, magnitude, Kind::kF32) * real(module_, Kind::kF32, 0x1p-24);
  const Value finite = select(magnitude < 0x0400, bits_of(denormal), normal);
  return bitcast(select(magnitude >= 0x7c00, special, finite) | sign, Kind::kF32);
}

Value Translator::f32_to_f16(Value value) {
  const Value bits = bits_of(value);
  const Value sign = (bits >> 16) & 0x8000;
  const Value magnitude = bits & 0x7fffffff;
  // Rounds half to even by a carry out of the 13 bits that are dropped; the largest values carry into infinity.
  const Value normal = (magnitude + (0x0fff - (112u << 23)) + ((magnitude >> 13) & 1)) >> 13;
  // The last bit of 0.5f has the weight of the last bit of a denormal f16, so the addition rounds.
  const Value shifted = bitcast(magnitude, Kind::kF32) + real(module_, Kind::kF32, 0.5);
  const Value denormal = bits_of(shifted) - 0x3f000000;
  const Value nan = ((magnitude >> 13) & 0x03ff) | 0x7e00;
  Value result = select(magnitude < 0x38800000, denormal, normal);
  result = select(magnitude >= 0x47800000, u32(0x7c00), result);
  result = select(magnitude > 0x7f800000, nan, result);
  return resize(result | sign, Kind::kU16);
}

Value Translator::bf16_to_f32(Value half) { return bitcast(resize(half, Kind::kU32) << 16, Kind::kF32); }

Value Translator::f32_to_bf16(Value value) {
  const Value bits = bits_of(value);
  const Value high = bits >> 16;
  const Value rounded = (bits + 0x7fff + (high & 1)) >> 16;
  const Value is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return resize(select(is_nan, high | 0x40, rounded), Kind::kU16);
}

}  // namespace lucid::spirv
