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
/// The same for an argument that is known beyond its format.
ExpReduction reduce_exp(const Pair& x, int64_t bias);

/// P(r) of exp(r) = 1 + r + r^2 P(r).
Value exp_tail(Value r);

/// exp(x) where it is a normal number.
Value exp_in_range(Value x);
/// exp(x) where its exponent is at most twice too large or too small for a normal number.
Value exp_any(Value x);
/// 2^x likewise, by a polynomial for (2^r - 1) / r.
Value exp2_any(Value x, std::span<const double> coefficients);

/// How far a power 2^n is lifted so that it is a normal number, though 2^n may not be one.
inline int lift_of(Value x) { return is_f64(x) ? 512 : 64; }

/// sigmoid(x) from exp(-|x|) = scale (1 + t): the result, but for the factor `scale` where x is negative. The scale may
/// have been flushed to zero.
Value sigmoid_without_scale(Value t, Value scale, Value negative);

}  // namespace lucid::loop::math
