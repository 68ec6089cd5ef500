#include "loop/math_log.h"

#include "loop/math.h"
#include "loop/math_coefficients.h"

namespace lucid::loop {
namespace math {
namespace {

LogReduction split_normal(Value x) {
  const Format& format = format_of(x);
  const Value bits = bits_of(x);
  // The bits of sqrt(1/2).
  const int64_t root = format.mantissa_bits == 52 ? 0x3FE6A09E667F3BCD : 0x3F3504F3;
  const Value exponent = shift_right(plus(bits, -root), format.mantissa_bits);
  const Value mantissa = from_bits(bits - shift_left(exponent, format.mantissa_bits));
  return {.exponent = exponent, .e = {}, .f = mantissa - 1.0};
}

/// 1 + x = 2^e (1 + f) for finite x.hi > -1.
struct Log1pReduction {
  Value e;
  Pair f;
};

Log1pReduction reduce_log1p(Pair x) {
  const Pair sum = two_sum(number(x.hi, 1), x.hi);
  const LogReduction reduced = reduce_normal_log(sum.hi);
  // The rounding error of 1 + x.hi, on the scale of f. It does not matter if 2^-e is not a normal number.
  const int64_t bias = format_of(x.hi).bias;
  const Value scale = power_of_two(integer_max(integer(reduced.exponent, bias) - reduced.exponent, 0));
  const Value rest = x.lo ? sum.lo + x.lo : sum.lo;
  // f is 0 or at least one unit in the last place of 1; the scaled rest is at most half of that unit.
  return {.e = reduced.e, .f = fast_two_sum(reduced.f, rest * scale)};
}

/// e log(2) + log(1 + f.hi + f.lo) in f32; f.lo may be empty.
Value log_sum_f32(Value e, Pair f) {
  const Value tail = fma(polynomial(f.hi, kLogF32), f.hi, -0.5);
  const Value low = fma(f.hi * f.hi, tail, f.lo ? fma(e, kLn2LoF32, f.lo) : e * kLn2LoF32);
  // The two large parts are added last, so that only the rounding of their sum matters where they nearly cancel.
  return fma(e, kLn2HiF32, f.hi + low);
}

/// log(1 + f) = head + tail in f64, where the tail is small.
Pair log_parts(Value f, Value f_error) {
  const Value s = f / (f + 2.0);
  const Value z = s * s;
  const Value half_square = f * f * 0.5;
  const Value square_error = fma(f * 0.5, f, -half_square);
  const Value head = f - half_square;
  const Value rest = fma(z, polynomial(z, kLog), half_square);
  const Value tail = fma(s, rest, ((f - head) - half_square) - (square_error - f_error));
  return {head, tail};
}

Value log_sum(Value e, Value f, Value f_error, bool precise) {
  if (!precise) return fma(e, kLn2Hi, (f + f_error) * polynomial(f + f_error, kLogShort));
  const Pair parts = log_parts(f, f_error);
  const Pair sum = two_sum(e * kLn2Hi, parts.hi);
  return sum.hi + (sum.lo + fma(e, kLn2Lo, parts.lo));
}

/// The logarithm of 2^e (1 + f) in some base, in f64, given 1 / log(base) and the logarithm of 2 in that base.
Value log_in_base(LogReduction x, Pair scale, Pair log_of_2) {
  const Pair parts = log_parts(x.f, number(x.f, 0));
  const Pair product = two_product(parts.hi, scale.hi);
  const Value product_error = fma(parts.hi, scale.lo, fma(parts.lo, scale.hi, product.lo));
  const Pair sum = two_sum(x.e * log_of_2.hi, product.hi);
  return sum.hi + (sum.lo + fma(x.e, log_of_2.lo, product_error));
}

}  // namespace

LogReduction reduce_log(Value x) {
  const bool wide = is_f64(x);
  const Value tiny = x < (wide ? 0x1p-1022 : 0x1p-126);
  LogReduction reduced = split_normal(select(tiny, x * (wide ? 0x1p52 : 0x1p23), x));
  reduced.exponent =
      reduced.exponent + select(tiny, integer(reduced.exponent, wide ? -52 : -23), integer(reduced.exponent, 0));
  reduced.e = small_integer_to_float(reduced.exponent);
  return reduced;
}

LogReduction reduce_normal_log(Value x) {
  LogReduction reduced = split_normal(x);
  reduced.e = small_integer_to_float(reduced.exponent);
  return reduced;
}

Value with_log_specials(Value x, Value result) {
  const Value upper = select(x < kInfinity, result, x);
  return select(x > 0.0, upper, select(x == 0.0, number(x, -kInfinity), number(x, kNaN)));
}

Value log1p_of(Pair x, bool precise) {
  const Log1pReduction reduced = reduce_log1p(x);
  return log_sum(reduced.e, reduced.f.hi, reduced.f.lo, precise);
}

Value log_of(Value x, Value addend) {
  const LogReduction reduced = reduce_log(x);
  return log_sum(reduced.e + addend, reduced.f, number(x, 0), true);
}

}  // namespace math

using namespace math;

Value log(Value x) {
  check_float(x, "log");
  if (is_f64(x)) return with_log_specials(x, log_of(x, number(x, 0)));
  const LogReduction reduced = reduce_log(x);
  return with_log_specials(x, log_sum_f32(reduced.e, {reduced.f, {}}));
}

Value log2(Value x) {
  check_float(x, "log2");
  const LogReduction reduced = reduce_log(x);
  if (is_f64(x)) {
    const Value one = number(x, 1), zero = number(x, 0);
    return with_log_specials(x, log_in_base(reduced, {number(x, kLog2E), number(x, kLog2ELo)}, {one, zero}));
  }
  Builder& builder = x.builder();
  const Value f = builder.convert(reduced.f, Dtype::kF64), e = builder.convert(reduced.e, Dtype::kF64);
  const Value result = fma(f * polynomial(f, kLogShort), kLog2E, e);
  return with_log_specials(x, builder.convert(result, Dtype::kF32));
}

Value log10(Value x) {
  check_float(x, "log10");
  const LogReduction reduced = reduce_log(x);
  if (is_f64(x)) {
    const Pair scale{number(x, kLog10E), number(x, kLog10ELo)};
    return with_log_specials(x, log_in_base(reduced, scale, {number(x, kLog10Of2Hi), number(x, kLog10Of2Rest)}));
  }
  Builder& builder = x.builder();
  const Value f = builder.convert(reduced.f, Dtype::kF64), e = builder.convert(reduced.e, Dtype::kF64);
  const Value result = fma(f * polynomial(f, kLogShort), kLog10E, e * kLog10Of2);
  return with_log_specials(x, builder.convert(result, Dtype::kF32));
}

Value log1p(Value x) {
  check_float(x, "log1p");
  const Value finite = select(x < kInfinity, x, 0.0);
  Value result;
  if (is_f64(x)) {
    result = log1p_of({finite, {}}, true);
  } else {
    const Log1pReduction reduced = reduce_log1p({finite, {}});
    result = log_sum_f32(reduced.e, reduced.f);
  }
  result = select(x < kInfinity, result, x);
  const Value outside = select(x == -1.0, number(x, -kInfinity), number(x, kNaN));
  // Where x^2 is below the precision, return x itself, which preserves the sign of zero and the bits of a subnormal.
  return select(abs(x) < (is_f64(x) ? 0x1p-54 : 0x1p-25), x, select(x > -1.0, result, outside));
}

Value asinh(Value x) {
  check_float(x, "asinh");
  // asinh(x) = log1p(x + x^2 / (1 + sqrt(1 + x^2))), and log(2 x) where x^2 would overflow.
  const auto compute = [](Value wide, bool precise) {
    const Value magnitude = abs(wide);
    const Value moderate = precise ? at_most(magnitude, 0x1p30) : at_most(magnitude, 0x1p130);
    const Value square = moderate * moderate;
    const Pair sum = fast_two_sum(moderate, square / (sqrt(square + 1.0) + 1.0));
    Value result = log1p_of(sum, precise);
    if (precise) {
      const Value far = log_of(at_least(at_most(magnitude, 0x1.fffffffffffffp1023), 1), number(wide, 1));
      result = select(magnitude < 0x1p30, result, far);
    }
    result = select(magnitude < kInfinity, result, magnitude);
    return copysign(select(magnitude < 0x1p-28, magnitude, result), wide);
  };
  if (is_f64(x)) return compute(x, true);
  return in_f64(x, [&](Value wide) { return compute(wide, false); });
}

Value acosh(Value x) {
  check_float(x, "acosh");
  // With t = x - 1, acosh(x) = log1p(t + sqrt(2 t + t^2)), and log(2 x) where t^2 would overflow.
  const auto compute = [](Value wide, bool precise) {
    const Value t = (precise ? at_most(wide, 0x1p30) : at_most(wide, 0x1p130)) - 1.0;
    Value result = log1p_of(two_sum(sqrt(fma(t, t, t + t)), t), precise);
    if (precise) {
      const Value far = log_of(at_least(at_most(wide, 0x1.fffffffffffffp1023), 1), number(wide, 1));
      result = select(wide < 0x1p30, result, far);
    }
    result = select(wide < kInfinity, result, wide);
    return select(wide < 1.0, number(wide, kNaN), result);
  };
  if (is_f64(x)) return compute(x, true);
  return in_f64(x, [&](Value wide) { return compute(wide, false); });
}

Value atanh(Value x) {
  check_float(x, "atanh");
  // atanh(x) = log1p(2 x / (1 - x)) / 2.
  const auto compute = [](Value wide, bool precise) {
    const Value magnitude = abs(wide);
    const Value inside = select(magnitude < 1.0, magnitude, 0.0);
    const Pair divisor = fast_two_sum(number(wide, 1), -inside);
    const Value dividend = inside + inside;
    const Value quotient = dividend / divisor.hi;
    Value quotient_lo;
    if (precise) {
      const Value remainder = fma(-quotient, divisor.hi, dividend) - quotient * divisor.lo;
      quotient_lo = remainder / divisor.hi;
    }
    const Value result = log1p_of({quotient, quotient_lo}, precise) * 0.5;
    const Value edge = select(magnitude == 1.0, number(wide, kInfinity), number(wide, kNaN));
    return copysign(select(magnitude < 0x1p-28, magnitude, select(magnitude < 1.0, result, edge)), wide);
  };
  if (is_f64(x)) return compute(x, true);
  return in_f64(x, [&](Value wide) { return compute(wide, false); });
}

}  // namespace lucid::loop
