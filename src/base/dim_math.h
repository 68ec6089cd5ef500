#pragma once

#include "lucid/sym_int.h"

namespace lucid {

constexpr SymInt ceil_div(SymInt x, SymInt y) { return (x + y - 1) / y; }

/// A power of two that is not less than x, the smallest for the sizes of the recorded call or for all. The trace notes
/// that x is not greater.
int64_t bit_ceil(SymInt x);

/// Whether x is a multiple of y. For a traced x: whether it is for all sizes. Nothing depends on a negative answer, so
/// the caller must be right either way.
bool is_multiple(SymInt x, SymInt y);

/// The greatest common divisor. For traced numbers: one of them, if it divides the other for all sizes, or 1.
SymInt common_divisor(SymInt x, SymInt y);

}  // namespace lucid
