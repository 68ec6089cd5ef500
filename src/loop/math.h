#pragma once

#include "loop/builder.h"

/// Vector math in the loop language. Every function takes f32 or f64 values, scalar or vector, and appends only
/// arithmetic, selects and table look-ups, so that all targets compute the same bits.
///
/// Special cases follow C's functions (Annex F). Subnormal inputs are never flushed. Subnormal results are correct if
/// the thread does not flush them, otherwise they are zeros of the same sign. docs/accuracy.md lists the measured
/// maximum errors over all of f32: at most 2 units in the last place, or 4 for the activations.
namespace lucid::loop {

Value exp(Value x);
Value exp2(Value x);
/// exp(x) - 1 without the cancellation near 0.
Value expm1(Value x);

Value log(Value x);
Value log2(Value x);
Value log10(Value x);
/// log(1 + x) without the rounding of 1 + x.
Value log1p(Value x);

/// x to the power y, with C's special cases: pow(x, 0) and pow(1, y) are 1 even for NaN; for negative finite x the
/// result is NaN unless y is an integer.
Value pow(Value x, Value y);
/// 1 / sqrt(x); -inf for -0.
Value rsqrt(Value x);

// Arguments are in radians. They are reduced exactly, however large they are.
Value sin(Value x);
Value cos(Value x);
Value tan(Value x);
Value asin(Value x);
Value acos(Value x);
Value atan(Value x);
/// The angle of the point (x, y), in [-pi, pi].
Value atan2(Value y, Value x);

Value sinh(Value x);
Value cosh(Value x);
Value tanh(Value x);
Value asinh(Value x);
Value acosh(Value x);
Value atanh(Value x);

/// 1 / (1 + exp(-x)), accurate in both tails.
Value sigmoid(Value x);
Value erf(Value x);
/// 1 - erf(x), accurate in the upper tail.
Value erfc(Value x);

/// The probability that a standard normal variable is below x, accurate in both tails.
Value ndtr(Value x);

// Activations. They are accurate and do not underflow early, where a plain product of their factors would. Those that
// tend to 0 for large negative x are NaN for -inf, like that product.
/// x * ndtr(x).
Value gelu(Value x);
/// x * sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)).
Value gelu_tanh(Value x);
/// x * sigmoid(x).
Value silu(Value x);
/// x * tanh(log(1 + exp(x))).
Value mish(Value x);
/// x - tanh(x).
Value tanhshrink(Value x);

/// x - trunc(x / y) * y, exact for any quotient; takes the sign of x. NaN when y is 0 or x is infinite.
Value fmod(Value x, Value y);

}  // namespace lucid::loop
