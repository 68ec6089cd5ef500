#include <limits>

#include "loop/math.h"
#include "loop/math_coefficients.h"
#include "loop/math_detail.h"

namespace lucid::loop {
namespace math {
namespace {

/// x = quadrant * pi / 2 + angle, where the angle is at most pi / 4 in magnitude. Only the low two bits of the quadrant
/// matter.
struct Reduction {
  Value quadrant;
  Pair angle;
};

constexpr int kLimbBits = 27;
constexpr int64_t kLimbMask = (int64_t{1} << kLimbBits) - 1;

/// Payne-Hanek reduction of finite x >= 2^30, by integer arithmetic on 27-bit limbs. With x = m 2^e, the words of
/// 1 / (2 pi) whose product with x is a whole number of periods are skipped; the result is the fractional part of the
/// remaining product. Without `precise`, x is an f32 number, and the angle has no low part.
Reduction reduce_huge(Value x, bool precise) {
  Builder& builder = x.builder();
  // No f64 is closer than 2^-62 to a multiple of pi / 2, and no f32 is closer than 2^-30. The first omitted word
  // changes the angle by less than 2^(80 - 8 * 27) or 2^(51 - 5 * 27).
  const int word_count = precise ? 8 : 5;
  const int spare_bits = precise ? 0 : 29;
  const Value bits = bits_of(abs(x));
  const Value mantissa = shift_right(plus(bits & integer(bits, (int64_t{1} << 52) - 1), int64_t{1} << 52), spare_bits);
  // x = mantissa * 2^(shift - 27), counting the table's leading word of zeros.
  const Value shift = plus(shift_right(bits, 52), kLimbBits + spare_bits - 1075);
  // shift / 27 by a multiplication, exact in this range.
  const Value skipped = shift_right(shift * integer(shift, 2428), 16);
  const Value rest = shift - skipped * integer(shift, kLimbBits);
  const auto limb = [](Value value) { return value & integer(value, kLimbMask); };
  // mantissa << rest in limbs, the least significant one first.
  std::vector<Value> limbs;
  const Value low = builder.binary(Code::kShl, precise ? limb(mantissa) : mantissa, rest);
  if (precise) {
    const Value upper = builder.binary(Code::kShl, shift_right(mantissa, kLimbBits), rest);
    const Value high = upper + shift_right(low, kLimbBits);
    limbs = {limb(low), limb(high), shift_right(high, kLimbBits)};
  } else {
    limbs = {limb(low), shift_right(low, kLimbBits)};
  }

  // f32 uses only the first ten words.
  const auto words_end = precise ? std::end(kInverseTwoPi) : std::begin(kInverseTwoPi) + 10;
  const BufferRef table = builder.table(Dtype::kI64, std::vector<uint64_t>(std::begin(kInverseTwoPi), words_end));
  std::vector<Value> words;
  for (int k = 0; k < word_count; ++k) words.push_back(look_up(table, plus(skipped, k)));

  // Limbs of the fraction, the most significant one last. Products of two limbs have 54 bits, so many of them can be
  // added without overflow.
  std::vector<Value> fraction;
  Value carry = integer(bits, 0);
  for (int position = 0; position < word_count; ++position) {
    Value sum = carry;
    for (int k = 0; k < static_cast<int>(limbs.size()) && k <= position; ++k) {
      sum = sum + limbs[k] * words[word_count - 1 - (position - k)];
    }
    fraction.push_back(limb(sum));
    carry = shift_right(sum, kLimbBits);
  }
  // Four times the fraction is the angle in quadrants. The nearest integer is subtracted.
  const auto from_top = [&](int k) { return fraction[word_count - 1 - k]; };
  const Value top = shift_left(from_top(0), kLimbBits) + from_top(1);
  const Value quadrant = shift_right(plus(top, int64_t{1} << 51), 52);
  const auto scaled = [&](Value value, double unit) { return builder.convert(value, Dtype::kF64) * unit; };
  Pair sum = two_sum(scaled(top - shift_left(quadrant, 52), 0x1p-52), scaled(from_top(2), 0x1p-79));
  Pair angle = {sum.hi * kHalfPi, {}};
  if (precise) {
    sum = fast_two_sum(sum.hi, sum.lo + (scaled(from_top(3), 0x1p-106) + scaled(from_top(4), 0x1p-133)));
    angle = two_product(sum.hi, number(x, kHalfPi));
    angle.lo = fma(sum.lo, kHalfPi, fma(sum.hi, kHalfPiLo, angle.lo));
  }
  const Value negative = x < 0.0;
  const auto with_sign = [&](Value value) { return value ? select(negative, -value, value) : value; };
  return {.quadrant = with_sign(quadrant), .angle = {with_sign(angle.hi), with_sign(angle.lo)}};
}

/// The same, lane by lane. Huge arguments are rare, and scalar code compiles much faster.
Reduction reduce_huge_lanes(Value x, bool precise) {
  if (!x.is_vector()) return reduce_huge(x, precise);
  Builder& builder = x.builder();
  const BufferRef arguments = builder.scratch(Dtype::kF64, kLanes), quadrants = builder.scratch(Dtype::kI64, kLanes);
  const BufferRef highs = builder.scratch(Dtype::kF64, kLanes);
  const BufferRef lows = precise ? builder.scratch(Dtype::kF64, kLanes) : highs;
  const Value first = builder.index(0);
  builder.store(arguments, first, x);
  builder.for_loop(first, builder.index(kLanes), 1, [&](Value lane) {
    const Reduction reduction = reduce_huge(builder.load(arguments, lane), precise);
    builder.store(quadrants, lane, reduction.quadrant);
    builder.store(highs, lane, reduction.angle.hi);
    if (precise) builder.store(lows, lane, reduction.angle.lo);
  });
  return {.quadrant = builder.load_vector(quadrants, first),
          .angle = {builder.load_vector(highs, first), precise ? builder.load_vector(lows, first) : Value()}};
}

/// Reduces x, an f64. Without `precise` the angle is accurate to about f64 precision, but has no low part.
Reduction reduce(Value x, bool precise) {
  const Format& format = format_of(x);
  const Value shifted = fma(x, 2 / 3.14159265358979323846, format.magic);
  const Value n = shifted - format.magic;
  // The first product cancels the leading bits of x exactly.
  const Value exact = fma(n, -kHalfPi, x);
  Pair angle;
  if (precise) {
    const Pair product = two_product(n, number(n, kHalfPiLo));
    angle = two_sum(exact, -product.hi);
    angle.lo = fma(n, -kHalfPiLowest, angle.lo - product.lo);
  } else {
    angle.hi = fma(n, -kHalfPiLo, exact);
  }
  const Value magnitude = abs(x);
  const Value huge = magnitude > 0x1p30;
  std::vector<Value> initial = {bits_of(shifted), angle.hi};
  if (precise) initial.push_back(angle.lo);
  const auto result = repeat_if_any(huge, 1, initial, [&](std::span<const Value> carried) {
    // Replace lanes that are infinite or not huge by a huge number: the table has no words for them.
    const Value finite = magnitude < std::numeric_limits<double>::infinity();
    const Reduction reduction = reduce_huge_lanes(select(huge & finite, x, 0x1p100), precise);
    std::vector<Value> next = {select(huge, reduction.quadrant, carried[0]),
                               select(huge, reduction.angle.hi, carried[1])};
    if (precise) next.push_back(select(huge, reduction.angle.lo, carried[2]));
    return next;
  });
  return {.quadrant = result[0], .angle = {result[1], precise ? result[2] : Value()}};
}

/// sin(angle) - angle, for an angle within pi / 4.
Value sin_tail(Pair angle, Value z, bool precise) {
  const Value r = angle.hi;
  if (!precise) return r * z * polynomial(z, kSinShort);
  return fma(r * z, polynomial(z, kSin), fma(z * -0.5, angle.lo, angle.lo));
}

/// cos(angle), for an angle within pi / 4.
Pair cos_parts(Pair angle, Value z, bool precise) {
  const Value half = z * 0.5;
  const Value head = 1.0 - half;
  if (!precise) return {head, z * z * polynomial(z, kCosShort)};
  // The rounding errors of 1 - z / 2 and of z itself.
  const Value z_error = fma(angle.hi, angle.hi, -z);
  const Value rounding = ((1.0 - head) - half) - z_error * 0.5;
  return {head, fma(z * z, polynomial(z, kCos), rounding - angle.hi * angle.lo)};
}

Value bit_set(Value x, int64_t bit) { return (x & integer(x, bit)) != integer(x, 0); }

/// sin(x + shift * pi / 2).
Value sin_of(Value x, int shift, bool precise) {
  const Reduction reduction = reduce(x, precise);
  const Value quadrant = shift == 0 ? reduction.quadrant : plus(reduction.quadrant, shift);
  const Pair angle = reduction.angle;
  const Value z = angle.hi * angle.hi;
  const Pair cosine = cos_parts(angle, z, precise);
  const Value result = select(bit_set(quadrant, 1), cosine.hi + cosine.lo, angle.hi + sin_tail(angle, z, precise));
  return select(bit_set(quadrant, 2), -result, result);
}

/// `result` for finite x; NaN for infinite x, as inf - inf.
Value nan_unless_finite(Value x, Value result) {
  return select(abs(x) < std::numeric_limits<double>::infinity(), result, x - x);
}

Value tan_of(Value x, bool precise) {
  const Reduction reduction = reduce(x, precise);
  const Pair angle = reduction.angle;
  const Value z = angle.hi * angle.hi;
  const Pair sine = fast_two_sum(angle.hi, sin_tail(angle, z, precise));
  const Pair cosine_parts = cos_parts(angle, z, precise);
  const Pair cosine = fast_two_sum(cosine_parts.hi, cosine_parts.lo);
  // tan(a + pi / 2) = -cos(a) / sin(a).
  const Value odd = bit_set(reduction.quadrant, 1);
  const Pair dividend = {select(odd, -cosine.hi, sine.hi), select(odd, -cosine.lo, sine.lo)};
  const Pair divisor = {select(odd, sine.hi, cosine.hi), select(odd, sine.lo, cosine.lo)};
  if (!precise) return dividend.hi / divisor.hi;
  const Value inverse = 1.0 / divisor.hi;
  const Value quotient = dividend.hi * inverse;
  const Value remainder = fma(-quotient, divisor.hi, dividend.hi) + fma(-quotient, divisor.lo, dividend.lo);
  return fma(remainder, inverse, quotient);
}

}  // namespace
}  // namespace math

using namespace math;

// Where the cubic term is below the precision, sin and tan return the argument itself, which preserves its sign and the
// bits of a subnormal.

Value sin(Value x) {
  check_float(x, "sin");
  const auto compute = [](Value wide, bool precise) {
    return nan_unless_finite(wide, select(abs(wide) < 0x1p-30, wide, sin_of(wide, 0, precise)));
  };
  if (is_f64(x)) return compute(x, true);
  return in_f64(x, [&](Value wide) { return compute(wide, false); });
}

Value cos(Value x) {
  check_float(x, "cos");
  const auto compute = [](Value wide, bool precise) { return nan_unless_finite(wide, sin_of(wide, 1, precise)); };
  if (is_f64(x)) return compute(x, true);
  return in_f64(x, [&](Value wide) { return compute(wide, false); });
}

Value tan(Value x) {
  check_float(x, "tan");
  const auto compute = [](Value wide, bool precise) {
    return nan_unless_finite(wide, select(abs(wide) < 0x1p-30, wide, tan_of(wide, precise)));
  };
  if (is_f64(x)) return compute(x, true);
  return in_f64(x, [&](Value wide) { return compute(wide, false); });
}

}  // namespace lucid::loop
