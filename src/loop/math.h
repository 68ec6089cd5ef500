#pragma once

#include "loop/builder.h"

/// Vector math in the loop language. Every function takes f32 or f64 values, scalar or vector, and appends only
/// arithmetic, selects and table look-ups, so that all targets compute the same bits.
///
/// The special cases are those of C's functions (Annex F). Subnormal inputs are read as they are; subnormal results are
/// right when results are not flushed, and zeros of the same sign when they are. The measured worst errors over all of
/// f32 stand in docs/accuracy.md; none exceeds 2 units in the last place, nor the activations 4.
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

/// x to the power y, with C's special cases: pow(x, 0) and pow(1, y) are 1 even for NaN, a negative x has a real power
/// only for integral y.
Value pow(Value x, Value y);
/// 1 / sqrt(x); -inf for -0.
Value rsqrt(Value x);

// Arguments are in radians and reduced exactly, whatever their size.
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

// Activations, accurate and without early underflow where a plain product of their parts is not. Those that vanish far
// below are NaN for -inf, as that product is.
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
