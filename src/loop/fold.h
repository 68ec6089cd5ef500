#pragma once

#include <cstdint>
#include <optional>

#include "loop/kernel.h"

namespace lucid::loop {

/// The result of folding an operation on indices: one of its operands, or a constant.
struct Folded {
  std::optional<Id> id;
  int64_t constant = 0;
};

/// Folds x + 0, x * 1, x * 0 and similar operations, and operations on two constants. The operands must be i64.
/// Floating-point operations are never folded: a kernel computes exactly what is written.
std::optional<Folded> fold_index(const Kernel& kernel, Code code, Id x, Id y);

/// Wraps an integer to the range of `dtype` and sign-extends it; kBool is 0 or 1.
int64_t wrap_to(Dtype dtype, int64_t value);
/// Converts a float to an integer as kConvert does: truncates and saturates, NaN becomes 0; kBool is "!= 0".
int64_t saturate_to(Dtype dtype, double value);
/// Rounds a float to the precision of a float dtype; to the 16-bit ones through f32.
double round_to(Dtype dtype, double value);

}  // namespace lucid::loop
