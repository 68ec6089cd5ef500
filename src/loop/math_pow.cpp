#include <bit>

#include "loop/math.h"
#include "loop/math_coefficients.h"
#include "loop/math_detail.h"
#include "loop/math_exp.h"
#include "loop/math_log.h"

namespace lucid::loop {
namespace math {
namespace {

/// log(x) for positive finite x in f64, with a relative error near 2^-66. pow multiplies the logarithm by up to
/// 1075 / log(x), and an absolute error of that product is a relative error of the power.
Pair precise_log(Value x) {
  Builder& builder = x.builder();
  const Value tiny = x < 0x1p-1022;
  const Value bits = bits_of(select(tiny, x * 0x1p52, x));
  // x = 2^e m with m in one of 128 intervals from 0.6953125 on, and m / c = 1 + r exactly, with |r| <= 2^-7.
  const Value offset = plus(bits, -std::bit_cast<int64_t>(0.6953125));
  const Value exponent = shift_right(offset, 52);
  const Value m = from_bits(bits - shift_left(exponent, 52));
  const Value index = shift_right(offset, 45) & integer(offset, 127);
  const Value e = small_integer_to_float(exponent) - select(tiny, 52.0, number(x, 0));
  const Value r = fma(m, look_up(table_of(builder, Dtype::kF64, kLogTableInverse), index), -1.0);
  const Value c_hi = look_up(table_of(builder, Dtype::kF64, kLogTableHi), index);
  const Value c_lo = look_up(table_of(builder, Dtype::kF64, kLogTableLo), index);
  // log(x) = e log(2) + log(c) + r - r^2 / 2 + r^3 P(r). The first four terms are summed with their rounding errors.
  const Pair sum = two_sum(fma(e, kLn2Hi, c_hi), r);
  const Value half = r * -0.5;
  const Pair square = two_product(half, r);
  const Pair head = fast_two_sum(sum.hi, square.hi);
  const Value cube = r * r * r * polynomial(r, kLogTable);
  const Value rest = fma(e, kLn2Lo, c_lo) + (sum.lo + (square.lo + (head.lo + cube)));
  return fast_two_sum(head.hi, rest);
}

/// x^y for x >= 0 in f64. Handles zeros and infinities; the caller handles the other special cases.
Value precise_power(Value x, Value y) {
  const Value regular = select(x > 0.0, x, kInfinity) < kInfinity;
  const Pair log = precise_log(select(regular, x, 1.0));
  const Value log_hi = select(regular, log.hi, select(x == 0.0, number(x, -kInfinity), number(x, kInfinity)));
  // The clamp is wide enough for powers that overflow or are zero. Outside of it the low part has no meaning.
  const Value product = y * log_hi;
  const Value inside = abs(product) < 800.0;
  const Value clamped = at_least(at_most(product, 800), -800);
  const Value product_lo = select(inside, fma(y, log.lo, fma(y, log.hi, -product)), 0.0);
  const ExpReduction reduced = reduce_exp(clamped, 2 * 1023);
  const Value r = reduced.r;
  const Pair head = fast_two_sum(number(x, 1), fma(r * r, exp_tail(r), r));
  const Value power = head.hi + fma(head.hi, reduced.r_error + product_lo, head.lo);
  return scale_in_two_steps(power, reduced.n);
}

/// The same for arguments converted from f32, with the accuracy of f32.
Value short_power(Value x, Value y) {
  const Value regular = select(x > 0.0, x, kInfinity) < kInfinity;
  const LogReduction reduced = reduce_normal_log(select(regular, x, 1.0));
  const Value finite_log = fma(reduced.f * polynomial(reduced.f, kLogShort), kLog2E, reduced.e);
  const Value log = select(regular, finite_log, select(x == 0.0, number(x, -kInfinity), number(x, kInfinity)));
  return exp2_any(at_least(at_most(y * log, 200), -200), kExp2Short);
}

Value pow_of(Value x, Value y, bool precise) {
  const Value magnitude = abs(x);
  const Value power = precise ? precise_power(magnitude, y) : short_power(magnitude, y);
  // Halving y is exact unless y is subnormal, in which case it is not an integer.
  const Value half = y * 0.5;
  const Value integral = trunc(y) == y, odd = integral & (trunc(half) != half);
  const Value negative = bits_of(x) < integer(bits_of(x), 0);
  Value result = select(negative & odd, -power, power);
  // A fractional power of a negative finite base is undefined; of -0 and -inf it is defined.
  const Value defined = integral | (x == -kInfinity);
  result = select(x < 0.0, select(defined, result, kNaN), result);
  result = select(is_nan(x) | is_nan(y), x + y, result);
  const Value one = (x == 1.0) | (y == 0.0) | ((x == -1.0) & (abs(y) == kInfinity));
  return select(one, 1.0, result);
}

}  // namespace
}  // namespace math

using namespace math;

Value pow(Value x, Value y) {
  check_float(x, "pow");
  if (is_f64(x)) return pow_of(x, y, true);
  Builder& builder = x.builder();
  return in_f64(x, [&](Value base) { return pow_of(base, builder.convert(y, Dtype::kF64), false); });
}

Value rsqrt(Value x) {
  check_float(x, "rsqrt");
  return 1.0 / sqrt(x);
}

}  // namespace lucid::loop
