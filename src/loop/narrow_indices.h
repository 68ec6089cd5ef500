#pragma once

#include <cstdint>
#include <vector>

#include "loop/kernel.h"

namespace lucid::loop {

/// The largest magnitude of the integers that narrow_indices() requires to be small.
inline constexpr int64_t kMaxSmallInteger = int64_t{1} << 23;

/// For each param, whether the kernel computes with it in i64, rather than using only its bits, such as those of a
/// float.
std::vector<bool> integer_params(const Kernel& kernel);

/// The kernel with i32 arithmetic in place of i64 arithmetic where results stay the same: for indices of elements, of
/// which 32 bits determine the others, and for values that are known to be small. For kernels without calls.
///
/// Requires that the number of items and all integer_params() are at most kMaxSmallInteger in magnitude, and that all
/// indices of elements are i32.
Kernel narrow_indices(const Kernel& kernel);

}  // namespace lucid::loop
