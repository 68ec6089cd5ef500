#pragma once

#include <cstdint>
#include <optional>

#include "loop/kernel.h"

namespace lucid::loop {

/// What an operation on indices comes to before run time: one of its operands, or a number.
struct Folded {
  std::optional<Id> id;
  int64_t constant = 0;
};

/// Folds x + 0, x * 1, x * 0 and the like, and operations on two constants, of i64 operands only. Floating point is
/// never folded: what a kernel says is what it computes.
std::optional<Folded> fold_index(const Kernel& kernel, Code code, Id x, Id y);

/// An integer as `dtype` holds it: wrapped, sign-extended; kBool is 0 or 1.
int64_t wrap_to(Dtype dtype, int64_t value);
/// A float as kConvert brings it to an integer: truncated and saturated, NaN to 0; kBool is "!= 0".
int64_t saturate_to(Dtype dtype, double value);
/// A float rounded to the precision of a float dtype; the 16-bit ones by way of f32.
double round_to(Dtype dtype, double value);

}  // namespace lucid::loop
