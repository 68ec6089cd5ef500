#pragma once

#include <span>

#include "loop/math_detail.h"

/// The parts of the exponential that other functions use.
namespace lucid::loop::math {

/// x = n log(2) + r + r_error with integral n.
struct ExpReduction {
  Value n;  // an integer whose low bits are n + bias
  Value r;
  Value r_error;  // of r's rounding
};
ExpReduction reduce_exp(Value x, int64_t bias);
/// The same for an argument with extra precision.
ExpReduction reduce_exp(const Pair& x, int64_t bias);

/// P(r) of exp(r) = 1 + r + r^2 P(r).
Value exp_tail(Value r);

/// exp(x), provided that it is a normal number.
Value exp_in_range(Value x);
/// exp(x), provided that its exponent is at most twice as large or as small as that of a normal number.
Value exp_any(Value x);
/// 2^x under the same condition, with the coefficients of a polynomial for (2^r - 1) / r.
Value exp2_any(Value x, std::span<const double> coefficients);

/// The exponent by which a power 2^n is lifted so that it is a normal number even if 2^n is not.
inline int lift_of(Value x) { return is_f64(x) ? 512 : 64; }

/// sigmoid(x), given exp(-|x|) = scale (1 + t). For negative x the result still lacks the factor `scale`, which may
/// have been flushed to zero.
Value sigmoid_without_scale(Value t, Value scale, Value negative);

}  // namespace lucid::loop::math
