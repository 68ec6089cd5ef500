// The standard normal distribution, computed from its upper tail: the probability that a variable exceeds a >= 0.

#include <iterator>

#include "loop/math.h"
#include "loop/math_coefficients.h"
#include "loop/math_erf.h"
#include "loop/math_exp.h"

namespace lucid::loop {
namespace math {
namespace {

/// Up to this limit a table approximates the tail itself in f32. Arguments beyond it are rare and need an exponential.
constexpr double kNearLimit = 5.25;
/// From here on, the tail is 0 even when multiplied by its argument.
constexpr double kEndF32 = 14.5, kEnd = 39;

constexpr size_t kIntervals = std::size(kNormalNearCenters);

/// The polynomial of the interval, one of 16, that contains the argument. `t` is the distance from the interval's
/// center.
struct Piece {
  Value constant;
  Value rest;  // the polynomial is constant + rest * t
  Value t;
};

template <size_t kCount>
Piece take_piece(Value a, Value interval_bits, std::span<const double> centers,
                 const double (&coefficients)[kCount][kIntervals]) {
  Builder& builder = a.builder();
  const Value interval = builder.convert(interval_bits & integer(interval_bits, kIntervals - 1), Dtype::kI64);
  const auto entry = [&](std::span<const double> row) {
    return look_up(table_of(builder, Dtype::kF32, row), interval);
  };
  const Value t = a - entry(centers);
  Value rest = entry(coefficients[kCount - 1]);
  for (size_t k = kCount - 2; k > 0; --k) rest = fma(rest, t, entry(coefficients[k]));
  return {.constant = entry(coefficients[0]), .rest = rest, .t = t};
}

/// The tail for a <= kNearLimit in f32. Beyond that the result is meaningless.
Value near_tail(Value a) {
  const Value shifted = fma(a, fma(a, kNormalScale, 2 * kNormalScale), format_of(a).magic);
  const Piece piece = take_piece(a, bits_of(shifted), kNormalNearCenters, kNormalNear);
  return fma(piece.rest, piece.t, piece.constant);
}

/// A tail as m * scale. `scale` is multiplied by 2^64 and the table by 2^-64, so that both are normal numbers even if
/// the tail is not.
struct FarTail {
  Value m;
  Value scale;
};

/// The tail for 4 <= a <= kEndF32 in f32: exp(-a^2 / 2) times a slowly decreasing function. The square is computed
/// exactly, since the exponential multiplies its absolute error.
FarTail far_tail(Value a) {
  const Piece piece = take_piece(a, shift_right(bits_of(a), 20), kNormalFarCenters, kNormalFar);
  const Value h = fma(piece.rest, piece.t, piece.constant);
  const ExpReduction reduced = reduce_exp(two_product(a * -0.5, a), format_of(a).bias + 64);
  const Value r = reduced.r;
  const Value growth = fma(r * r, exp_tail(r), r);
  const Value h_error = fma(piece.rest, piece.t, piece.constant - h);
  return {.m = h + fma(h, growth, h_error), .scale = power_of_two(reduced.n)};
}

/// `near` for a up to kNearLimit, far(tail) beyond.
template <typename F>
Value with_far_tail(Value a, Value near, F far) {
  const Value is_far = a > kNearLimit;
  return repeat_if_any(is_far, 1, std::vector{near}, [&](std::span<const Value> carried) {
    return std::vector{select(is_far, far(far_tail(at_most(a, kEndF32))), carried[0])};
  })[0];
}

/// base - weight * tail in f64, for 0 <= a <= kEnd.
Value minus_tail(Value base, Value weight, Value a) {
  const Value x = a * kSqrtHalf;
  const Value x_error = fma(a, kSqrtHalfLo, fma(a, kSqrtHalf, -x));
  const Value near = fma(erf_near(x), -0.5, 0.5);
  const Scaled far = erfc_far({.x = x, .x_error = x_error, .square = two_product(a * 0.5, a)});
  const Value weighted = scale_in_two_steps(far.m * (weight * 0.5), far.n);
  return select(a < 0.67, fma(-weight, near, base), base - weighted);
}

}  // namespace
}  // namespace math

using namespace math;

Value ndtr(Value x) {
  check_float(x, "ndtr");
  const Value magnitude = abs(x);
  const Value negative = x < 0.0;
  if (is_f64(x)) {
    const Value one = number(x, 1);
    return minus_tail(select(negative, 0.0, one), select(negative, -1.0, one), at_most(magnitude, kEnd));
  }
  const auto either = [&](Value tail) { return select(negative, tail, 1.0 - tail); };
  return with_far_tail(magnitude, either(near_tail(magnitude)),
                       [&](const FarTail& tail) { return either(tail.m * tail.scale); });
}

// x - x times the upper tail for positive x, and x times the lower tail for negative x.
Value gelu(Value x) {
  check_float(x, "gelu");
  const Value magnitude = abs(x);
  // For negative x the base is -0, and NaN for -inf because of the multiplication by 0.
  const Value base = select(x < 0.0, x * 0.0, x);
  if (is_f64(x)) {
    const Value limited = at_most(magnitude, kEnd);
    return minus_tail(base, limited, limited);
  }
  return with_far_tail(magnitude, fma(-magnitude, near_tail(magnitude), base), [&](const FarTail& tail) {
    return fma(-(at_most(magnitude, kEndF32) * tail.scale), tail.m, base);
  });
}

}  // namespace lucid::loop
