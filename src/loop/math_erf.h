#pragma once

#include "loop/math_detail.h"

/// The parts of the error function that others use.
namespace lucid::loop::math {

/// An argument x >= 0 of erfc_far, known beyond its format: x + x_error, and its square.
struct ErfcArgument {
  Value x;
  Value x_error;
  Pair square;
};

/// A number m 2^n with the low bits of `n` being n + 2 * bias, as scale_in_two_steps takes it.
struct Scaled {
  Value m;
  Value n;
};

/// erf(x) for 0 <= x <= 1 in f64.
Value erf_near(Value x);
/// erfc(x) in f64 for x >= 0.47, accurate to the last bits; at most 28.
Scaled erfc_far(const ErfcArgument& argument);

}  // namespace lucid::loop::math
