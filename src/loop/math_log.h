#pragma once

#include "loop/math_detail.h"

/// The parts of the logarithm that other functions use.
namespace lucid::loop::math {

/// x = 2^e (1 + f) for positive finite x, with 1 + f between sqrt(1/2) and sqrt(2).
struct LogReduction {
  Value exponent;  // e, an integer
  Value e;         // e as a float
  Value f;
};
LogReduction reduce_log(Value x);
/// The same, provided that x is not subnormal.
LogReduction reduce_normal_log(Value x);

/// log(1 + x.hi + x.lo) in f64 for finite x.hi > -1; x.lo may be empty. The result has f64 accuracy if `precise`,
/// otherwise f32 accuracy.
Value log1p_of(Pair x, bool precise);
/// log(x) + addend * log(2) in f64 for positive finite x.
Value log_of(Value x, Value addend);

/// `result` where x is positive and finite; the logarithm's special cases elsewhere.
Value with_log_specials(Value x, Value result);

}  // namespace lucid::loop::math
