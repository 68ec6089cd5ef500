#include "loop/math.h"
#include "loop/math_coefficients.h"
#include "loop/math_detail.h"

namespace lucid::loop {
namespace math {
namespace {

constexpr double kPi = 2 * kHalfPi;
constexpr double kPiLo = 2 * kHalfPiLo;

/// asin(|x|) is asin(s) with s = |x| up to 1/2, and pi / 2 - 2 asin(s) with s = sqrt((1 - |x|) / 2) above.
struct HalfAngle {
  Value outer;  // |x| > 1/2
  Pair s;
  Value tail;  // asin(s) - s
};

HalfAngle half_angle(Value x, bool precise) {
  const Value magnitude = abs(x);
  const Value outer = magnitude > 0.5;
  const Value z = select(outer, fma(magnitude, -0.5, 0.5), magnitude * magnitude);
  const Value root = sqrt(z);
  const Value s = select(outer, root, magnitude);
  Value s_error = number(s, 0);
  if (precise) {
    // The rounding error of the root. The root of 0 is exact.
    const Value residue = fma(-root, root, z) / select(root == 0.0, 1.0, root + root);
    s_error = select(outer, residue, 0.0);
  }
  const Value p = z * polynomial(z, precise ? std::span<const double>(kAsin) : kAsinShort);
  return {.outer = outer, .s = {s, s_error}, .tail = fma(s, p, s_error)};
}

/// pi / 2 - 2 (s + tail), almost correctly rounded.
Value complement(Value s, Value tail) {
  const Pair difference = fast_two_sum(number(s, kHalfPi), s * -2.0);
  return difference.hi + (difference.lo + fma(tail, -2.0, kHalfPiLo));
}

Value asin_of(Value x, bool precise) {
  const HalfAngle half = half_angle(x, precise);
  const Value inner = half.s.hi + half.tail;
  return copysign(select(half.outer, complement(half.s.hi, half.tail), inner), x);
}

Value acos_of(Value x, bool precise) {
  const HalfAngle half = half_angle(x, precise);
  const Value s = half.s.hi, tail = half.tail;
  const Value negative = x < 0.0;
  // For |x| <= 1/2 the result is pi / 2 - asin(x), otherwise 2 asin(s) or pi - 2 asin(s).
  const Value signed_s = copysign(s, x), signed_tail = select(negative, -tail, tail);
  const Pair inside = fast_two_sum(number(x, kHalfPi), -signed_s);
  const Value inner = inside.hi + (inside.lo + (kHalfPiLo - signed_tail));
  const Pair below = fast_two_sum(number(x, kPi), s * -2.0);
  const Value lower = below.hi + (below.lo + fma(tail, -2.0, kPiLo));
  return select(half.outer, select(negative, lower, (s + tail) * 2.0), inner);
}

/// The angle in [0, pi / 2] of the point (x, y) with nonnegative coordinates, in f64; if `obtuse`, pi minus that angle.
/// The angle of (0, 0) is 0.
Value angle_of(Value y, Value x, Value obtuse, bool precise) {
  // Near 45 degrees the angle is pi / 4 + atan((y - x) / (y + x)); near 90 degrees it is pi / 2 - atan(x / y).
  const Value steep = y > x * 0x1.3504f333f9de6p+1;
  const Value diagonal = y > x * 0x1.a827999fcef32p-2;
  const Pair difference = two_sum(y, -x), sum = two_sum(y, x);
  const Value zero = number(y, 0);
  Pair top = {select(diagonal, difference.hi, y), select(diagonal, difference.lo, zero)};
  Pair bottom = {select(diagonal, sum.hi, x), select(diagonal, sum.lo, zero)};
  top = {select(steep, -x, top.hi), select(steep, zero, top.lo)};
  bottom = {select(steep, y, bottom.hi), select(steep, zero, bottom.lo)};
  bottom.hi = select(bottom.hi == 0.0, 1.0, bottom.hi);
  const Value u = top.hi / bottom.hi;
  const Value z = u * u;
  Value tail = u * z * polynomial(z, precise ? std::span<const double>(kAtan) : kAtanShort);
  if (precise) {
    const Value residue = fma(-u, bottom.hi, top.hi) + fma(-u, bottom.lo, top.lo);
    tail = tail + residue / bottom.hi;
  }
  // The angle is base + u + tail, or pi minus that.
  const Value base = select(steep, kHalfPi, select(diagonal, kHalfPi / 2, zero));
  const Value base_lo = select(steep, kHalfPiLo, select(diagonal, kHalfPiLo / 2, zero));
  const Value from = select(obtuse, kPi - base, base), from_lo = select(obtuse, kPiLo - base_lo, base_lo);
  const Value head = select(obtuse, -u, u), rest = select(obtuse, -tail, tail);
  const Pair start = fast_two_sum(from, head);
  return start.hi + (start.lo + (from_lo + rest));
}

Value atan_of(Value x, bool precise) {
  const Value magnitude = at_most(abs(x), 0x1p100);
  const Value one = number(x, 1);
  const Value result = angle_of(magnitude, one, magnitude < 0.0, precise);
  return copysign(select(magnitude < 0x1p-28, magnitude, result), x);
}

Value atan2_of(Value y, Value x, bool precise) {
  Value tall = abs(y), wide = abs(x);
  // An infinite coordinate dominates a finite one; two infinite coordinates are equal.
  const Value infinite = select(tall == kInfinity, tall, wide) == kInfinity;
  tall = select(infinite, select(tall == kInfinity, 1.0, number(tall, 0)), tall);
  wide = select(infinite, select(wide == kInfinity, 1.0, number(wide, 0)), wide);
  if (precise) {
    // Scale so that sums do not overflow and remainders are not subnormal. Selecting a factor of 1 instead would flush
    // a subnormal coordinate that is far smaller than the other one.
    const Value largest = select(tall > wide, tall, wide);
    const Value huge = largest > 0x1p1020, tiny = largest < 0x1p-400;
    tall = select(tiny, tall * 0x1p600, select(huge, tall * 0.25, tall));
    wide = select(tiny, wide * 0x1p600, select(huge, wide * 0.25, wide));
  }
  // Tests the sign bit of x, which matters for -0 too.
  const Value obtuse = bits_of(x) < integer(bits_of(x), 0);
  const Value result = copysign(angle_of(tall, wide, obtuse, precise), y);
  return select(is_nan(x), x, select(is_nan(y), y, result));
}

}  // namespace
}  // namespace math

using namespace math;

Value asin(Value x) {
  check_float(x, "asin");
  if (is_f64(x)) return asin_of(x, true);
  return in_f64(x, [](Value wide) { return asin_of(wide, false); });
}

Value acos(Value x) {
  check_float(x, "acos");
  if (is_f64(x)) return acos_of(x, true);
  return in_f64(x, [](Value wide) { return acos_of(wide, false); });
}

Value atan(Value x) {
  check_float(x, "atan");
  if (is_f64(x)) return atan_of(x, true);
  return in_f64(x, [](Value wide) { return atan_of(wide, false); });
}

Value atan2(Value y, Value x) {
  check_float(y, "atan2");
  if (is_f64(y)) return atan2_of(y, x, true);
  Builder& builder = y.builder();
  return in_f64(y, [&](Value tall) { return atan2_of(tall, builder.convert(x, Dtype::kF64), false); });
}

}  // namespace lucid::loop
