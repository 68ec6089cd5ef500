#include "loop/math_exp.h"

#include <cmath>

#include "loop/math.h"
#include "loop/math_coefficients.h"
#include "loop/math_detail.h"

namespace lucid::loop {
namespace math {

namespace {

/// x = n log(2) + r, where r = exact - n * ln2_lo. `exact` has no rounding error.
struct Multiple {
  Value bits;
  Value n;
  Value exact;
  double ln2_lo;
};

Multiple take_multiple(Value x, int64_t bias) {
  const double magic = format_of(x).magic + static_cast<double>(bias);
  const Value shifted = fma(x, kLog2E, magic);
  const Value n = shifted - magic;
  const Value exact = fma(n, is_f64(x) ? -kLn2Hi : -kLn2HiF32, x);
  return {.bits = bits_of(shifted), .n = n, .exact = exact, .ln2_lo = is_f64(x) ? kLn2Lo : kLn2LoF32};
}

}  // namespace

ExpReduction reduce_exp(Value x, int64_t bias) {
  const auto [bits, n, exact, lo] = take_multiple(x, bias);
  const Value r = fma(n, -lo, exact);
  return {.n = bits, .r = r, .r_error = fma(n, -lo, exact - r)};
}

ExpReduction reduce_exp(const Pair& x, int64_t bias) {
  const auto [bits, n, exact, lo] = take_multiple(x.hi, bias);
  const Value rest = fma(n, -lo, x.lo);
  const Value r = exact + rest;
  return {.n = bits, .r = r, .r_error = (exact - r) + rest};
}

Value exp_tail(Value r) { return polynomial(r, is_f64(r) ? std::span<const double>(kExp) : kExpF32); }

Value exp_in_range(Value x) {
  const ExpReduction reduced = reduce_exp(x, format_of(x).bias);
  const Value r = reduced.r;
  return fma(fma(exp_tail(r), r, 1.0), r, 1.0) * power_of_two(reduced.n);
}

Value exp_any(Value x) {
  const ExpReduction reduced = reduce_exp(x, 2 * format_of(x).bias);
  const Value r = reduced.r;
  return scale_in_two_steps(fma(fma(exp_tail(r), r, 1.0), r, 1.0), reduced.n);
}

Value exp2_any(Value x, std::span<const double> coefficients) {
  const Format& format = format_of(x);
  const double magic = format.magic + 2 * format.bias;
  const Value shifted = x + magic;
  const Value r = x - (shifted - magic);
  return scale_in_two_steps(fma(polynomial(r, coefficients), r, 1.0), bits_of(shifted));
}

Value sigmoid_without_scale(Value t, Value scale, Value negative) {
  // The result is 1 / (1 + scale (1 + t)), times 1 + t for negative x. The quotient is corrected for its own rounding
  // error and that of its divisor, so that only the last rounding matters.
  const Value power = fma(scale, t, scale);
  const Pair divisor = fast_two_sum(number(t, 1), power);
  const Value quotient = 1.0 / divisor.hi;
  const Value error = fma(-quotient, divisor.lo, fma(-quotient, divisor.hi, 1.0));
  const Value growth = select(negative, t, 0.0);
  return fma(quotient, growth + fma(growth, error, error), quotient);
}

namespace {

struct Hyperbolic {
  Value sinh;
  Value cosh;
};

/// sinh and cosh of x >= 0 in f64. With x = n log(2) + r, e^x = 2^n (cosh r + sinh r) and e^-x = 2^-n (cosh r - sinh
/// r). Therefore sinh x and cosh x are combinations of sinh r and cosh r with coefficients (2^n +- 2^-n) / 2.
Hyperbolic hyperbolic(Value x, bool precise) {
  // Coefficients are an eighth of 2^n and 2^-n, so that no intermediate of the largest finite result overflows.
  const ExpReduction reduced = reduce_exp(x, 1023 - 3);
  const Value up = power_of_two(reduced.n);
  // The low bits hold n + 1020; 2^-n is zero where it is too small to matter.
  const Value n = reduced.n - integer(reduced.n, format_of(x).magic_bits);
  const Value down = power_of_two(integer_max(integer(n, 2 * (1023 - 3)) - n, 0));
  const Pair sum = fast_two_sum(up, down), difference = fast_two_sum(up, -down);
  const Value r = reduced.r, z = r * r;
  const Value cosh_tail = z * polynomial(z, precise ? std::span<const double>(kCosh) : kCoshShort);
  Value sinh_tail = r * z * polynomial(z, precise ? std::span<const double>(kSinh) : kSinhShort);
  Value sinh_low = difference.hi * cosh_tail, cosh_low = sum.hi * cosh_tail;
  if (precise) {
    sinh_tail = sinh_tail + reduced.r_error;
    sinh_low = sinh_low + difference.lo;
    cosh_low = cosh_low + sum.lo;
  }
  const Value sinh = fma(sum.hi, r, difference.hi) + fma(sum.hi, sinh_tail, sinh_low);
  const Value cosh = fma(difference.hi, r, sum.hi) + fma(difference.hi, sinh_tail, cosh_low);
  return {.sinh = sinh * 4.0, .cosh = cosh * 4.0};
}

Value sinh_of(Value x, bool precise) {
  const Value magnitude = abs(x);
  const Value result = hyperbolic(at_most(magnitude, 711), precise).sinh;
  return copysign(select(magnitude < 0x1p-28, magnitude, result), x);
}

Value cosh_of(Value x, bool precise) { return hyperbolic(at_most(abs(x), 711), precise).cosh; }

}  // namespace
}  // namespace math

using namespace math;

Value exp(Value x) {
  check_float(x, "exp");
  // Beyond these bounds the result is 0 or infinite. The clamp keeps the exponent within its field.
  return exp_any(is_f64(x) ? at_least(at_most(x, 710), -746) : at_least(at_most(x, 89), -104));
}

Value exp2(Value x) {
  check_float(x, "exp2");
  if (is_f64(x)) return exp2_any(at_least(at_most(x, 1024), -1075), kExp2);
  return exp2_any(at_least(at_most(x, 128), -150), kExp2F32);
}

Value expm1(Value x) {
  check_float(x, "expm1");
  const Format& format = format_of(x);
  const Value clamped = is_f64(x) ? at_least(at_most(x, 710), -40) : at_least(at_most(x, 89), -20);
  // 2^(n - 1), since 2^n may overflow where the result does not.
  const ExpReduction reduced = reduce_exp(clamped, format.bias - 1);
  const Value scale = power_of_two(reduced.n);
  const Value r = reduced.r;
  const Value tail = fma(r * r, exp_tail(r), reduced.r_error);
  const Value head = fma(scale, r, scale - 0.5);
  // Scaling would lose bits of a subnormal x.
  return select(abs(x) < (is_f64(x) ? 0x1p-54 : 0x1p-25), x, fma(scale, tail, head) * 2.0);
}

Value sinh(Value x) {
  check_float(x, "sinh");
  if (is_f64(x)) return sinh_of(x, true);
  return in_f64(x, [](Value wide) { return sinh_of(wide, false); });
}

Value cosh(Value x) {
  check_float(x, "cosh");
  if (is_f64(x)) return cosh_of(x, true);
  return in_f64(x, [](Value wide) { return cosh_of(wide, false); });
}

Value tanh(Value x) {
  check_float(x, "tanh");
  // 1 - 2 / (exp(2 |x|) + 1) would cancel near 0, so a polynomial is used there.
  const Value magnitude = abs(x);
  const Value z = magnitude * magnitude;
  const Value near =
      fma(magnitude * z, polynomial(z, is_f64(x) ? std::span<const double>(kTanh) : kTanhF32), magnitude);
  const Value power = exp_in_range(at_most(magnitude + magnitude, is_f64(x) ? 40 : 20));
  const Value far = 1.0 - 2.0 / (power + 1.0);
  return copysign(select(magnitude < 0.625, near, far), x);
}

Value sigmoid(Value x) {
  check_float(x, "sigmoid");
  const Value limited = at_least(-abs(x), is_f64(x) ? -746 : -104);
  const ExpReduction reduced = reduce_exp(limited, format_of(x).bias + lift_of(x));
  const Value r = reduced.r;
  // A power of 2 is exact even if it is subnormal. If it is flushed, so is the result.
  const Value scale = power_of_two(reduced.n) * std::ldexp(1.0, -lift_of(x));
  const Value negative = x < 0.0;
  return sigmoid_without_scale(fma(r * r, exp_tail(r), r), scale, negative) * select(negative, scale, 1.0);
}

}  // namespace lucid::loop
