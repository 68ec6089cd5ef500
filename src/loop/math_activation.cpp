// Activations that are products of x and a function that tends to 0 for large negative x. The power of 2 is multiplied
// last, so the product is correct where the function alone would be subnormal.

#include <cmath>

#include "loop/math.h"
#include "loop/math_coefficients.h"
#include "loop/math_exp.h"

namespace lucid::loop {
namespace math {
namespace {

/// Below this bound, exp(x) times |x| is 0.
double lowest(Value x) { return is_f64(x) ? -760 : -110; }

/// exp(x) as 2^n (1 + t), with lifted = 2^(n + lift) and scale = 2^n, which may be flushed to zero.
struct Exponential {
  Exponential(const ExpReduction& reduced, Value like)
      : t(fma(reduced.r * reduced.r, exp_tail(reduced.r), reduced.r)),
        lifted(power_of_two(reduced.n)),
        scale(lifted * lower(like)) {}
  static double lower(Value like) { return std::ldexp(1.0, -lift_of(like)); }

  /// x m 2^n, rounded once.
  Value product(Value x, Value m) const { return (x * lifted) * (m * lower(x)); }

  Value t, lifted, scale;
};

int64_t lifted_bias(Value x) { return format_of(x).bias + lift_of(x); }

/// x * m for positive x, and `below` for negative x. NaN for -inf, because of the multiplication by 0.
Value gated(Value x, Value m, Value below) { return select(x < 0.0, fma(x, 0.0, below), x * m); }

/// x * sigmoid(v), given exp(-|v|); v has the sign of x. `limited` equals x where exp(-|v|) times x is not 0.
Value times_sigmoid(Value x, Value limited, const Exponential& power) {
  const Value m = sigmoid_without_scale(power.t, power.scale, x < 0.0);
  return gated(x, m, power.product(limited, m));
}

/// The constant c + c_lo as a pair in the format of `like`.
Pair constant_pair(Value like, double c, double c_lo) {
  if (is_f64(like)) return {number(like, c), number(like, c_lo)};
  return {number(like, static_cast<float>(c)), number(like, c - static_cast<float>(c))};
}

}  // namespace
}  // namespace math

using namespace math;

Value silu(Value x) {
  check_float(x, "silu");
  const ExpReduction reduced = reduce_exp(at_least(-abs(x), lowest(x)), lifted_bias(x));
  return times_sigmoid(x, at_least(x, lowest(x)), {reduced, x});
}

Value gelu_tanh(Value x) {
  check_float(x, "gelu_tanh");
  // The argument of sigmoid is v = x (linear + cubic x^2). It is computed as a pair, since exp(v) multiplies its
  // absolute error. Beyond the limits, sigmoid is 0 or 1.
  const double limit = is_f64(x) ? 40 : 14;
  const Value y = at_least(at_most(x, limit), -limit);
  const Pair linear = constant_pair(x, kGeluLinear, kGeluLinearLo), cubic = constant_pair(x, kGeluCubic, kGeluCubicLo);
  const Pair square = two_product(y, y);
  const Pair bend = two_product(square.hi, cubic.hi);
  const Value bend_lo = fma(square.hi, cubic.lo, fma(square.lo, cubic.hi, bend.lo));
  const Pair slope = two_sum(linear.hi, bend.hi);
  const Value slope_lo = slope.lo + (linear.lo + bend_lo);
  const Pair v = two_product(y, slope.hi);
  const Value v_lo = fma(y, slope_lo, v.lo);
  const Pair magnitude = {at_least(-abs(v.hi), lowest(x)), select(x < 0.0, v_lo, -v_lo)};
  return times_sigmoid(x, y, {reduce_exp(magnitude, lifted_bias(x)), x});
}

Value mish(Value x) {
  check_float(x, "mish");
  // With e = exp(x) and w = e (e + 2), tanh(log(1 + e)) is w / (w + 2).
  const Value limited = at_least(at_most(x, is_f64(x) ? 40 : 20), lowest(x));
  const Exponential power(reduce_exp(limited, lifted_bias(x)), x);
  const Value e = fma(power.scale, power.t, power.scale);
  const Value negative = x < 0.0;
  const Value quotient = select(negative, e + 2.0, 2.0) / fma(e, e + 2.0, 2.0);
  return gated(x, 1.0 - quotient, power.product(fma(limited, power.t, limited), quotient));
}

Value tanhshrink(Value x) {
  check_float(x, "tanhshrink");
  const Value magnitude = abs(x);
  const Value z = x * x;
  const Value near = magnitude * z * polynomial(z, is_f64(x) ? std::span<const double>(kTanhshrink) : kTanhshrinkF32);
  // Beyond 1, compute (x - 1) + (1 - tanh(x)): subtracting tanh(x) from x would cancel.
  const Value power = exp_in_range(at_most(magnitude + magnitude, is_f64(x) ? 40 : 20));
  const Value far = (magnitude - 1.0) + 2.0 / (power + 1.0);
  return copysign(select(magnitude < 1.0, near, far), x);
}

}  // namespace lucid::loop
