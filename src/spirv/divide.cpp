#include "spirv/format.h"
#include "spirv/translator.h"

// Division and square root on gpus that do not round them correctly. The gpu's result for significands, which may be
// off by some units in the last place, is an estimate of an integer. The remainder tells how far off it is: it is
// small, so integers of the float's width hold it even if they do not hold the product from which it is subtracted.
namespace lucid::spirv {

using spv::Op;

namespace {

Value to_real(Value integer, Kind kind) { return unary(Op::OpConvertUToF, integer, kind); }

/// The whole part of a small quotient of integers, the first of them signed. May be off by one.
Value estimate_quotient(Value x, Value y, Kind kind) {
  const Value quotient = device_divide(unary(Op::OpConvertSToF, x, kind), to_real(y, kind));
  return unary(Op::OpConvertFToS, extended(GLSLstd450Floor, quotient), x.kind);
}

}  // namespace

Value Translator::divide(Value x, Value y) {
  const bool is_f64 = x.kind == Kind::kF64;
  if (!(is_f64 ? target_.exact_divide64 : target_.exact_divide32)) {
    return call(is_f64 ? "divide64" : "divide32", {x, y},
                [&](std::span<const Value> parameters) { return emulate_divide(parameters[0], parameters[1]); });
  }
  const Value result = device_divide(x, y);
  if (!target_.flush_results) return result;
  // No quotient lies between the smallest normal number and the numbers that are rounded to it, so it is tiny if it is
  // below that number before rounding.
  const Value scaled = x * real(module_, x.kind, is_f64 ? 0x1p1022 : 0x1p126);
  return flushed_if(absolute(scaled) < absolute(y), result);
}

Value Translator::emulate_divide(Value x, Value y) {
  const Format format = format_of(x.kind);
  const Value x_bits = bits_of(x), y_bits = bits_of(y);
  const Value sign = (x_bits ^ y_bits) & format.sign_bit();
  const Parts a = parts_of(x), b = parts_of(y);

  // A dividend from 1 to 2 times the divisor: the quotient has as many bits as the significand, and two more.
  const Value is_below = a.significand < b.significand;
  const Value dividend = select(is_below, a.significand << 1, a.significand);
  const Value exponent = a.exponent - b.exponent + format.bias - to_integer(is_below, x_bits.kind);
  const Value scale = to_real(constant_like(x_bits, format.implicit_bit() << 2), x.kind);
  const Value estimate = device_divide(to_real(dividend, x.kind), to_real(b.significand, x.kind)) * scale;
  Value quotient = unary(Op::OpConvertFToU, estimate, x_bits.kind);
  Value remainder = (dividend << (format.fraction_bits + 2)) - quotient * b.significand;
  const Value missing = estimate_quotient(remainder, b.significand, x.kind);
  quotient = quotient + missing;
  remainder = remainder - missing * b.significand;

  const Value zero = constant_like(x_bits, 0);
  const Value is_above = signed_less(remainder, zero);
  quotient = quotient - to_integer(is_above, x_bits.kind);
  remainder = select(is_above, remainder + b.significand, remainder);
  const Value is_too_small = remainder >= b.significand;
  quotient = quotient + to_integer(is_too_small, x_bits.kind);
  remainder = select(is_too_small, remainder - b.significand, remainder);
  const Value significand = (quotient << 1) | to_integer(remainder != zero, x_bits.kind);
  const Value rounded = round_to_bits(sign, exponent, significand, x.kind);

  const Value x_magnitude = x_bits & format.magnitude_mask(), y_magnitude = y_bits & format.magnitude_mask();
  const Value infinity = constant_like(x_bits, format.infinity());
  const Value is_zero = (x_magnitude == zero) | (y_magnitude == infinity);
  const Value is_infinite = (x_magnitude == infinity) | (y_magnitude == zero);
  const Value is_nan = (is_zero & is_infinite) | (x_magnitude > infinity) | (y_magnitude > infinity);
  const Value finite = select(is_zero, sign, rounded);
  const Value number = select(is_infinite, sign | infinity, finite);
  return bitcast(select(is_nan, constant_like(x_bits, format.nan()), number), x.kind);
}

// Roots are never subnormal.
Value Translator::sqrt(Value x) {
  const bool is_f64 = x.kind == Kind::kF64;
  if (is_f64 ? target_.exact_sqrt64 : target_.exact_sqrt32) return device_sqrt(x);
  return call(is_f64 ? "sqrt64" : "sqrt32", {x},
              [&](std::span<const Value> parameters) { return emulate_sqrt(parameters[0]); });
}

Value Translator::emulate_sqrt(Value x) {
  const Format format = format_of(x.kind);
  const Value bits = bits_of(x);
  const Value zero = constant_like(bits, 0), one = constant_like(bits, 1);
  const Parts parts = parts_of(x);

  // A radicand from 1 to 4, so that the exponent is even. The root has one bit more than the significand.
  const Value exponent = parts.exponent - format.bias;
  const Value odd = exponent & one;
  const Value radicand = parts.significand << odd;
  const Value scaled = real(module_, x.kind, x.kind == Kind::kF64 ? 0x1p-52 : 0x1p-23);
  const Value scale = to_real(constant_like(bits, format.implicit_bit() << 1), x.kind);
  const Value estimate = device_sqrt(to_real(radicand, x.kind) * scaled) * scale;
  Value root = unary(Op::OpConvertFToU, estimate, bits.kind);
  Value remainder = (radicand << (format.fraction_bits + 2)) - root * root;
  const Value missing = estimate_quotient(remainder, root << one, x.kind);
  remainder = remainder - missing * ((root << one) + missing);
  root = root + missing;

  const Value is_above = signed_less(remainder, zero);
  remainder = select(is_above, remainder + (root << one) - one, remainder);
  root = root - to_integer(is_above, bits.kind);
  const Value is_too_small = signed_less(root << one, remainder);
  root = root + to_integer(is_too_small, bits.kind);
  // The root of a number with so few bits is never half way between two numbers, so its last bit decides.
  const Value rounded = (root + one) >> one;
  const Value half = shift_right_signed(exponent - odd, one);
  const Value finite = ((half + (format.bias - 1)) << format.fraction_bits) + rounded;

  const Value infinity = constant_like(bits, format.infinity());
  const Value is_zero = (bits & format.magnitude_mask()) == zero;
  const Value result = select(is_zero | (bits == infinity), bits, finite);
  // Negative numbers have greater bits than infinity.
  const Value is_nan = (bits > infinity) & logical_not(is_zero);
  return bitcast(select(is_nan, constant_like(bits, format.nan()), result), x.kind);
}

}  // namespace lucid::spirv
