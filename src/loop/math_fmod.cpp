#include "loop/math.h"
#include "loop/math_detail.h"

namespace lucid::loop {
namespace math {
namespace {

/// A positive number as normal * 2^-lift, so that no value computed from `normal` is subnormal.
struct Lifted {
  Value normal;
  Value lift;      // 500 for tiny numbers, else 0
  Value exponent;  // of the number itself, biased
};
Lifted lifted(Value x) {
  const Value tiny = x < 0x1p-400;
  const Value normal = select(tiny, x * 0x1p500, x);
  const Value zero = integer(bits_of(x), 0);
  const Value lift = select(tiny, integer(zero, 500), zero);
  return {.normal = normal, .lift = lift, .exponent = shift_right(bits_of(normal), 52) - lift};
}

constexpr int kStepBits = 51;

/// Returns the remainder of `rest` modulo y * 2^k, with the smallest k >= 0 for which the quotient has no more than 52
/// bits. The truncated quotient is either correct or one too large. In both cases the difference is representable, so
/// the fma is exact.
Value step(Value rest, const Lifted& y) {
  const Lifted x = lifted(rest);
  const Value k = integer_max(plus(x.exponent - y.exponent, -kStepBits), 0);
  const Value divisor = scale_in_two_steps(y.normal, plus(k + (x.lift - y.lift), 2 * 1023));
  const Value quotient = trunc(x.normal / divisor);
  const Value remainder = fma(-quotient, divisor, x.normal);
  const Value positive = select(remainder < 0.0, remainder + divisor, remainder);
  const Value result = select(x.normal < divisor, x.normal, positive);
  return select(x.lift == integer(x.lift, 0), result, result * 0x1p-500);
}

/// fmod in f64. Performs at most `rounds` steps before the last one.
Value fmod_of(Value x, Value y, int rounds) {
  const Value magnitude = abs(x), divisor = abs(y);
  const Value usable = (magnitude < kInfinity) & (divisor > 0.0) & (divisor < kInfinity);
  const Lifted by = lifted(select(usable, divisor, 1.0));
  const Value start = select(usable, magnitude, 0.0);
  const Value large = lifted(start).exponent - by.exponent > integer(by.exponent, kStepBits);
  const std::vector<Value> rest =
      repeat_if_any(large, rounds, std::span(&start, 1),
                    [&](std::span<const Value> carried) { return std::vector<Value>{step(carried[0], by)}; });
  const Value remainder = step(rest[0], by);
  const Value whole = (divisor == kInfinity) & (magnitude < kInfinity);
  return select(usable, copysign(remainder, x), select(whole, x, kNaN));
}

}  // namespace
}  // namespace math

using namespace math;

Value fmod(Value x, Value y) {
  check_float(x, "fmod");
  // Quotients are below 2^2098 for f64 and below 2^277 for f32. Each step removes at least 51 bits.
  if (is_f64(x)) return fmod_of(x, y, 41);
  Builder& builder = x.builder();
  return in_f64(x, [&](Value wide) { return fmod_of(wide, builder.convert(y, Dtype::kF64), 5); });
}

}  // namespace lucid::loop
