#include "spirv/format.h"
#include "spirv/translator.h"

// Fused operations on gpus whose instruction rounds the product too.
namespace lucid::spirv {

using spv::Op;

namespace {

/// An integer of 128 bits, of two u64.
struct Wide {
  Value high, low;
};

Wide select(Value condition, const Wide& x, const Wide& y) {
  return {spirv::select(condition, x.high, y.high), spirv::select(condition, x.low, y.low)};
}

/// The product of two numbers below 2^53.
Wide product(Value x, Value y) {
  const Value x_high = x >> 32, x_low = x & 0xffffffff;
  const Value y_high = y >> 32, y_low = y & 0xffffffff;
  const Value middle = x_high * y_low + x_low * y_high;
  const Value low = x_low * y_low;
  const Value sum = low + (middle << 32);
  return {x_high * y_high + (middle >> 32) + to_integer(sum < low, Kind::kU64), sum};
}

Wide shift_left(const Wide& x, Value count) {
  // Two shifts, since a shift by 64 is undefined.
  return {(x.high << count) | ((x.low >> 1) >> (constant_like(count, 63) - count)), x.low << count};
}

/// Shifts right by up to 127. The last bit is set if any bits are lost.
Wide shift_right(const Wide& x, Value count) {
  const Value is_far = count >= 64;
  const Value zero = constant_like(count, 0);
  const Wide near = select(is_far, {zero, x.high}, x);
  const Value rest = count & 63;
  const Value opposite = constant_like(count, 63) - rest;
  const Value lost = ((near.low << 1) << opposite) | spirv::select(is_far, x.low, zero);
  const Value low = (near.low >> rest) | ((near.high << 1) << opposite);
  return {near.high >> rest, low | to_integer(lost != 0, Kind::kU64)};
}

Wide sum(const Wide& x, const Wide& y) {
  const Value low = x.low + y.low;
  return {x.high + y.high + to_integer(low < x.low, Kind::kU64), low};
}

Wide difference(const Wide& x, const Wide& y) {
  return {x.high - y.high - to_integer(x.low < y.low, Kind::kU64), x.low - y.low};
}

/// The number of zeros before the first 1 of a u64 other than 0.
Value leading_zeros(Value x) {
  const Value high = resize(x >> 32, Kind::kU32), low = resize(x, Kind::kU32);
  const Value is_low = high == 0;
  const Value bit = extended(GLSLstd450FindUMsb, spirv::select(is_low, low, high));
  return resize(spirv::select(is_low, constant_like(bit, 63), constant_like(bit, 31)) - bit, Kind::kU64);
}

}  // namespace

Value Translator::fma(Value x, Value y, Value z) {
  const bool is_f64 = x.kind == Kind::kF64;
  if (!(is_f64 ? target_.fused_fma64 : target_.fused_fma32)) {
    const Value result = call(is_f64 ? "fma64" : "fma32", {x, y, z}, [&](std::span<const Value> parameters) {
      const Value a = parameters[0], b = parameters[1], c = parameters[2];
      return is_f64 ? emulate_fma64(a, b, c) : emulate_fma32(a, b, c);
    });
    return is_f64 ? result : hidden(result);  // rounded from f64: see convert()
  }
  const Value result = device_fma(x, y, z);
  if (!target_.flush_results) return result;
  // As for products. Where the scaling of an operand overflows, the result is large or exact, and tells itself whether
  // it is subnormal.
  const Value scale = real(module_, x.kind, 0x1p64);
  const double smallest = is_f64 ? 0x1p-1022 : 0x1p-126;
  const Value scaled = device_fma(x * scale, y, z * scale);
  return flushed(flushed_if(absolute(scaled) < real(module_, x.kind, smallest * 0x1p64), result));
}

// The product is exact in f64. The sum is rounded to odd there: towards zero, but with the last bit set if it is not
// exact. It then has more than two bits beyond those of f32, so that rounding it once more is the only rounding.
Value Translator::emulate_fma32(Value x, Value y, Value z) {
  const auto widened = [](Value value) { return unary(Op::OpFConvert, value, Kind::kF64); };
  const Value product = widened(x) * widened(y), addend = widened(z);
  const Value sum = product + addend;
  const Value part = sum - product;
  const Value error = (product - (sum - part)) + (addend - part);
  const Value bits = bits_of(sum);
  const Value zero = real(module_, Kind::kF64, 0);
  // Ordered comparisons: infinities and NaNs have a NaN as the error.
  const Value is_inexact = (error < zero) | (error > zero);
  const Value is_even = (bits & 1) == 0;
  // To the next number in the direction of the error: 1 away from zero, -1 towards it.
  const Value step = shift_right_signed(bits ^ bits_of(error), u64(63)) | 1;
  return f64_to_f32(bitcast(spirv::select(is_inexact & is_even, bits + step, bits), Kind::kF64));
}

// In integers: the product and the addend have their leading bits at bit 125 of 128, or the product at bit 126. The one
// with the smaller exponent is shifted right. Bits are lost only if the leading bits are far apart: then few bits
// cancel, and one bit in place of the lost ones is enough to round.
Value Translator::emulate_fma64(Value x, Value y, Value z) {
  const Format format = format_of(Kind::kF64);
  const Value x_bits = bits_of(x), y_bits = bits_of(y), z_bits = bits_of(z);
  const Value x_magnitude = x_bits & format.magnitude_mask();
  const Value y_magnitude = y_bits & format.magnitude_mask();
  const Value z_magnitude = z_bits & format.magnitude_mask();
  const Value product_sign = (x_bits ^ y_bits) & format.sign_bit();
  const Value addend_sign = z_bits & format.sign_bit();
  const Value zero = u64(0);

  const Parts a = parts_of(x), b = parts_of(y), c = parts_of(z);
  const Value product_exponent = a.exponent + b.exponent - format.bias;
  const Wide product_bits = shift_left(product(a.significand, b.significand), u64(21));
  const Value addend_high = spirv::select(z_magnitude == 0, zero, c.significand << 9);
  const Wide addend_bits{addend_high, zero};

  const Value addend_is_first = signed_less(product_exponent, c.exponent);
  const Value exponent = spirv::select(addend_is_first, c.exponent, product_exponent);
  const Value apart = exponent + exponent - product_exponent - c.exponent;
  const Value distance = spirv::select(apart < 127, apart, u64(127));
  const Wide first = select(addend_is_first, addend_bits, product_bits);
  const Wide second = shift_right(select(addend_is_first, product_bits, addend_bits), distance);
  const Value subtracts = product_sign != addend_sign;
  Wide result = select(subtracts, difference(first, second), sum(first, second));
  const Value is_negative = subtracts & signed_less(result.high, zero);
  result = select(is_negative, difference({zero, zero}, result), result);
  const Value first_sign = spirv::select(addend_is_first, addend_sign, product_sign);
  const Value sign = first_sign ^ spirv::select(is_negative, u64(format.sign_bit()), zero);
  const Value cancels = (result.high | result.low) == 0;

  const Value is_low = result.high == 0;
  result = select(is_low, {result.low, zero}, result);
  const Value zeros = leading_zeros(result.high);
  result = shift_left(result, zeros);
  const Value final_exponent = exponent + 2 - zeros - spirv::select(is_low, u64(64), zero);
  const Value rest = (result.high & 0xff) | result.low;
  const Value significand = (result.high >> 8) | to_integer(rest != 0, Kind::kU64);
  const Value rounded = round_to_bits(sign, final_exponent, significand, Kind::kF64);
  const Value finite = spirv::select(cancels, zero, rounded);

  const Value infinity = u64(format.infinity());
  const Value zero_factor = (x_magnitude == 0) | (y_magnitude == 0);
  const Value infinite_factor = (x_magnitude == infinity) | (y_magnitude == infinity);
  const Value nan_operand = (x_magnitude > infinity) | (y_magnitude > infinity) | (z_magnitude > infinity);
  const Value is_nan = nan_operand | (infinite_factor & (zero_factor | ((z_magnitude == infinity) & subtracts)));
  // Zeros of different signs add up to +0.
  const Value without_product =
      spirv::select((z_magnitude == 0) & subtracts, zero, bits_of(flushed(bitcast(z_bits, Kind::kF64))));
  Value number = spirv::select(zero_factor, without_product, finite);
  number = spirv::select(z_magnitude == infinity, z_bits, number);
  number = spirv::select(infinite_factor, product_sign | infinity, number);
  return bitcast(spirv::select(is_nan, u64(format.nan()), number), Kind::kF64);
}

}  // namespace lucid::spirv
