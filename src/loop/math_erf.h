#pragma once

#include "loop/math_detail.h"

/// The parts of the error function that other functions use.
namespace lucid::loop::math {

/// An argument x >= 0 of erfc_far with extra precision: x + x_error, and its square.
struct ErfcArgument {
  Value x;
  Value x_error;
  Pair square;
};

/// A number m 2^n. The low bits of the member `n` are n + 2 * bias, as scale_in_two_steps expects.
struct Scaled {
  Value m;
  Value n;
};

/// erf(x) for 0 <= x <= 1 in f64.
Value erf_near(Value x);
/// erfc(x) in f64 for 0.47 <= x <= 28, accurate to the last bits.
Scaled erfc_far(const ErfcArgument& argument);

}  // namespace lucid::loop::math
