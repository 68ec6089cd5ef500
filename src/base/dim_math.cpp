#include "base/dim_math.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/error.h"
#include "base/size_trace.h"

namespace lucid {

int64_t bit_ceil(SymInt x) {
  int64_t bound = std::max<int64_t>(x.unguarded(), 1);
  if (const SizeTrace* trace = SizeTrace::current()) bound = trace->upper_bound(x).value_or(bound);
  const auto power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bound)));
  LUCID_CHECK(x <= power, "{} is greater than {}", x, power);
  return power;
}

bool is_multiple(SymInt x, SymInt y) {
  if (x.is_traced() || y.is_traced()) {
    if (const SizeTrace* trace = SizeTrace::current()) return trace->is_multiple(x, y);
  }
  return x.unguarded() % y.unguarded() == 0;
}

SymInt common_divisor(SymInt x, SymInt y) {
  if (!x.is_traced() && !y.is_traced()) return std::gcd(int64_t{x}, int64_t{y});
  if (is_multiple(x, y)) return y;
  return is_multiple(y, x) ? x : SymInt(1);
}

}  // namespace lucid
