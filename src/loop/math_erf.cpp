#include "loop/math_erf.h"

#include <iterator>

#include "loop/math.h"
#include "loop/math_coefficients.h"
#include "loop/math_exp.h"

namespace lucid::loop {
namespace math {

Value erf_near(Value x) { return fma(x, polynomial(x * x, kErf), x); }

// exp(-x^2) P(t) / (1 + 2 x) with t = (x - 4) / (x + 4). The result combines four factors, so each is computed
// together with its rounding error.
Scaled erfc_far(const ErfcArgument& argument) {
  const Value x = argument.x;
  const ExpReduction reduced = reduce_exp(-argument.square.hi, 2 * 1023);
  const Value r = reduced.r;
  const Value t = (x - 4.0) / (x + 4.0);
  const Value double_x = x + x;
  const Value divisor = double_x + 1.0;
  const Pair power = fast_two_sum(number(x, 1), fma(r * r, exp_tail(r), r));
  const Value power_lo = fma(power.hi, reduced.r_error - argument.square.lo, power.lo);
  const Value slope = polynomial(t, std::span(kErfc).subspan(1));
  const Pair p = fast_two_sum(number(x, kErfc[0]), t * slope);
  const Value divisor_lo = fma(argument.x_error, 2.0, two_sum(double_x, number(x, 1)).lo);
  const Value inverse = 1.0 / divisor;
  const Value quotient = p.hi * inverse;
  const Value quotient_lo = (fma(-quotient, divisor, p.hi) + fma(-quotient, divisor_lo, p.lo)) * inverse;
  return {.m = fma(power.hi, quotient, fma(power.hi, quotient_lo, power_lo * quotient)), .n = reduced.n};
}

namespace {

/// erf(x) for 0 <= x <= 4 in f32 as x P(t). Each of 16 intervals has its own P; t is the position in the interval.
/// Beyond 4, erf(x) is 1.
Value erf_by_table(Value x) {
  Builder& builder = x.builder();
  const Format& format = format_of(x);
  const Value shifted = fma(x, kErfScale, format.magic);
  const Value t = fma(x, kErfScale, -(shifted - format.magic));
  const Value bits = bits_of(shifted);
  const Value interval = builder.convert(bits & integer(bits, std::size(kErfTableF32[0]) - 1), Dtype::kI64);
  const auto coefficient = [&](size_t k) { return look_up(table_of(builder, Dtype::kF32, kErfTableF32[k]), interval); };
  size_t k = std::size(kErfTableF32) - 1;
  Value slope = coefficient(k);
  while (--k > 0) slope = fma(slope, t, coefficient(k));
  // The constant term is added last and unrounded, so that the rounding of the other terms hardly matters.
  return at_most(fma(x, coefficient(0), slope * (x * t)), 1);
}

/// erfc(x) for x >= 0 in f64.
Value erfc_to_the_last_bits(Value x) {
  x = at_most(x, 28);
  const Scaled result = erfc_far({.x = x, .x_error = number(x, 0), .square = two_product(x, x)});
  return scale_in_two_steps(result.m, result.n);
}

/// erfc(x) for x >= 0 in f64, accurate enough to be rounded to f32.
Value erfc_for_f32(Value x) {
  x = at_most(x, 10.3);
  const Pair square = two_product(x, x);
  const ExpReduction reduced = reduce_exp(-square.hi, 2 * 1023);
  const Value r = reduced.r;
  const Value power = fma(fma(polynomial(r, kExpShort), r, 1.0), r, 1.0);
  return scale_in_two_steps(power * polynomial((x - 4.0) / (x + 4.0), kErfcShort) / (x + x + 1.0), reduced.n);
}

}  // namespace
}  // namespace math

using namespace math;

Value erf(Value x) {
  check_float(x, "erf");
  const Value magnitude = abs(x);
  if (is_f64(x)) {
    return copysign(select(magnitude < 1.0, erf_near(magnitude), 1.0 - erfc_to_the_last_bits(magnitude)), x);
  }
  return copysign(erf_by_table(at_most(magnitude, 4)), x);
}

Value erfc(Value x) {
  check_float(x, "erfc");
  const auto reflected = [](Value wide, Value far) { return select(wide < 0.0, 2.0 - far, far); };
  if (!is_f64(x)) return in_f64(x, [&](Value wide) { return reflected(wide, erfc_for_f32(abs(wide))); });
  const Value magnitude = abs(x);
  return select(magnitude < 0.47, 1.0 - copysign(erf_near(magnitude), x),
                reflected(x, erfc_to_the_last_bits(magnitude)));
}

}  // namespace lucid::loop
