#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "loop/builder.h"

/// Building blocks of the math functions. An f32 function either computes in f32 throughout or, where that is simpler,
/// converts its argument and computes in f64.
namespace lucid::loop::math {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// An unevaluated sum hi + lo. `lo` is at most half a unit in the last place of `hi`.
struct Pair {
  Value hi;
  Value lo;
};

inline bool is_f64(Value x) { return x.dtype() == Dtype::kF64; }
inline Value number(Value like, double value) { return like.builder().like(like, value); }

inline Value fma(Value x, Value y, Value z) { return x.builder().fma(x, y, z); }
inline Value fma(Value x, Value y, double z) { return fma(x, y, number(x, z)); }
inline Value fma(Value x, double y, Value z) { return fma(x, number(x, y), z); }
inline Value fma(Value x, double y, double z) { return fma(x, number(x, y), number(x, z)); }
inline Value select(Value condition, Value x, Value y) { return condition.builder().select(condition, x, y); }
inline Value select(Value condition, Value x, double y) { return select(condition, x, number(x, y)); }
inline Value select(Value condition, double x, Value y) { return select(condition, number(y, x), y); }
inline Value operator<(Value x, double y) { return x < number(x, y); }
inline Value operator>(Value x, double y) { return x > number(x, y); }
inline Value operator==(Value x, double y) { return x == number(x, y); }
inline Value operator!=(Value x, double y) { return x != number(x, y); }
inline Value abs(Value x) { return x.builder().unary(Code::kAbs, x); }
inline Value sqrt(Value x) { return x.builder().unary(Code::kSqrt, x); }
inline Value trunc(Value x) { return x.builder().unary(Code::kTrunc, x); }
inline Value copysign(Value x, Value sign) { return x.builder().binary(Code::kCopySign, x, sign); }
inline Value is_nan(Value x) { return x != x; }

/// min(x, limit) and max(x, limit). NaN stays NaN.
inline Value at_most(Value x, double limit) { return select(x > limit, limit, x); }
inline Value at_least(Value x, double limit) { return select(x < limit, limit, x); }

// Integers.
inline Value integer(Value like, int64_t value) { return like.builder().constant(like.dtype(), value); }
inline Value shift_left(Value x, int count) { return x.builder().binary(Code::kShl, x, integer(x, count)); }
inline Value shift_right(Value x, int count) { return x.builder().binary(Code::kShr, x, integer(x, count)); }
inline Value integer_max(Value x, int64_t y) { return x.builder().binary(Code::kMax, x, integer(x, y)); }
inline Value plus(Value x, int64_t y) { return x + integer(x, y); }

/// The bit layout of f32 or f64.
struct Format {
  int mantissa_bits;
  int bias;
  Dtype integer;
  /// 1.5 * 2^mantissa_bits. Adding it rounds a small float to an integer, which the low bits of the sum then hold.
  double magic;
  int64_t magic_bits;
};
inline const Format& format_of(Value x) {
  static constexpr Format f32{23, 127, Dtype::kI32, 0x1.8p23, 0x4B400000};
  static constexpr Format f64{52, 1023, Dtype::kI64, 0x1.8p52, 0x4338000000000000};
  return x.dtype() == Dtype::kF64 || x.dtype() == Dtype::kI64 ? f64 : f32;
}
inline Value bits_of(Value x) { return x.builder().bitcast(x, format_of(x).integer); }
inline Value from_bits(Value x) { return x.builder().bitcast(x, x.dtype() == Dtype::kI64 ? Dtype::kF64 : Dtype::kF32); }
/// Converts an integer to a float of the same width. The integer must be small compared to 2^mantissa_bits. On machines
/// without 64-bit conversions this is much faster than a conversion.
inline Value small_integer_to_float(Value x) {
  const Format& format = format_of(x);
  return from_bits(plus(x, format.magic_bits)) - format.magic;
}
/// 2^(biased_exponent - bias). Only the bits that reach the exponent field matter. Returns zero for 0.
inline Value power_of_two(Value biased_exponent) {
  return from_bits(shift_left(biased_exponent, format_of(biased_exponent).mantissa_bits));
}

/// x * 2^n, where the low bits of `doubly_biased` are n + 2 * bias. Multiplies by two factors that are normal numbers
/// even if 2^n is not.
Value scale_in_two_steps(Value x, Value doubly_biased);

/// Evaluates a polynomial by Horner's rule with one fma per coefficient after the first. The constant term comes first.
Value polynomial(Value x, std::span<const double> coefficients);

/// Exact sums and products as pairs. fast_two_sum requires |x| >= |y| or x = 0.
Pair two_sum(Value x, Value y);
Pair fast_two_sum(Value x, Value y);
Pair two_product(Value x, Value y);

/// Applies `body` to the carried values `rounds` times if the condition is true in any lane, otherwise never. The body
/// must not change lanes for which the condition is false.
std::vector<Value> repeat_if_any(Value condition, int rounds, std::span<const Value> initial,
                                 const std::function<std::vector<Value>(std::span<const Value>)>& body);

/// A table of f32 or f64.
BufferRef table_of(Builder& builder, Dtype dtype, std::span<const double> numbers);
/// Element `index` of a table, lane by lane.
Value look_up(BufferRef table, Value index);

/// Computes an f32 function in f64.
template <typename Function>
Value in_f64(Value x, Function function) {
  Builder& builder = x.builder();
  return builder.convert(function(builder.convert(x, Dtype::kF64)), Dtype::kF32);
}

/// Throws InternalError unless x is f32 or f64.
void check_float(Value x, const char* function);

}  // namespace lucid::loop::math
