#include "loop/lane.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/scalar.h"
#include "loop/codes.h"
#include "loop/fold.h"

namespace lucid::loop {
namespace {

template <typename T>
T from_bits(Bits bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <typename T>
Bits to_bits(T value) {
  Bits bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

[[noreturn]] void undefined(Code code, Dtype dtype, const char* why) {
  throw InternalError("{} of {}: {}", name_of(code), name_of(dtype), why);
}

template <typename T>
Bits compare(Code code, Dtype dtype, T a, T b) {
  switch (code) {
    case Code::kEq:
      return a == b;
    case Code::kNe:
      return a != b;
    case Code::kLt:
      return a < b;
    case Code::kLe:
      return a <= b;
    case Code::kGt:
      return a > b;
    case Code::kGe:
      return a >= b;
    default:
      undefined(code, dtype, "not an arithmetic instruction of this type");
  }
}

template <typename T>
Bits compute_float(Code code, Dtype dtype, T a, T b, T c) {
  switch (code) {
    case Code::kAdd:
      return to_bits<T>(a + b);
    case Code::kSub:
      return to_bits<T>(a - b);
    case Code::kMul:
      return to_bits<T>(a * b);
    case Code::kDiv:
      return to_bits<T>(a / b);
    case Code::kCopySign:
      return to_bits<T>(std::copysign(a, b));
    case Code::kNeg:
      return to_bits<T>(-a);
    case Code::kAbs:
      return to_bits<T>(std::fabs(a));
    case Code::kSqrt:
      return to_bits<T>(std::sqrt(a));
    case Code::kFloor:
      return to_bits<T>(std::floor(a));
    case Code::kCeil:
      return to_bits<T>(std::ceil(a));
    case Code::kTrunc:
      return to_bits<T>(std::trunc(a));
    case Code::kRound:
      return to_bits<T>(std::nearbyint(a));
    case Code::kFma:
      return to_bits<T>(std::fma(a, b, c));
    default:
      return compare(code, dtype, a, b);
  }
}

template <typename T>
Bits compute_integer(Code code, Dtype dtype, T a, T b) {
  // Unsigned 64-bit arithmetic wraps, and its low bits equal the results of the narrower types.
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): an i8 is a number, so it must be sign-extended
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  constexpr int kWidth = 8 * sizeof(T);
  switch (code) {
    case Code::kAdd:
      return to_bits(static_cast<T>(ua + ub));
    case Code::kSub:
      return to_bits(static_cast<T>(ua - ub));
    case Code::kMul:
      return to_bits(static_cast<T>(ua * ub));
    case Code::kNeg:
      return to_bits(static_cast<T>(0 - ua));
    case Code::kAbs:
      return to_bits(static_cast<T>(a < 0 ? 0 - ua : ua));
    case Code::kDiv:
    case Code::kRem:
      if (b == 0) undefined(code, dtype, "the divisor is 0");
      if (std::is_signed_v<T> && b == static_cast<T>(-1) && a == std::numeric_limits<T>::min()) {
        undefined(code, dtype, "the quotient overflows");
      }
      return to_bits(static_cast<T>(code == Code::kDiv ? a / b : a % b));
    case Code::kMin:
      return to_bits(std::min(a, b));
    case Code::kMax:
      return to_bits(std::max(a, b));
    case Code::kAnd:
      return to_bits(static_cast<T>(ua & ub));
    case Code::kOr:
      return to_bits(static_cast<T>(ua | ub));
    case Code::kXor:
      return to_bits(static_cast<T>(ua ^ ub));
    case Code::kNot:
      return to_bits(static_cast<T>(~ua));
    case Code::kShl:
    case Code::kShr:
    case Code::kShrLogical:
      if (b < 0 || b >= static_cast<T>(kWidth)) undefined(code, dtype, "the shift is out of range");
      if (code == Code::kShl) return to_bits(static_cast<T>(ua << b));
      if (code == Code::kShr) return to_bits(static_cast<T>(a >> b));
      return to_bits(static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) >> b));
    default:
      return compare(code, dtype, a, b);
  }
}

template <typename T>
Bits compute_as_integer(Code code, Dtype dtype, Bits a, Bits b) {
  return compute_integer(code, dtype, from_bits<T>(a), from_bits<T>(b));
}

Bits compute_bool(Code code, bool a, bool b) {
  switch (code) {
    case Code::kAnd:
      return a && b;
    case Code::kOr:
      return a || b;
    case Code::kXor:
      return a != b;
    case Code::kNot:
      return !a;
    default:
      return compare(code, Dtype::kBool, a, b);
  }
}

/// The value of a 16-bit float.
float narrow_value(Dtype dtype, Bits bits) {
  const auto half = static_cast<uint16_t>(bits);
  return dtype == Dtype::kF16 ? f16_to_f32(half) : bf16_to_f32(half);
}

/// Converts a double that is exactly representable as a float. Works for denormals even if the thread flushes them.
float exact_float(double value) {
  if (!(std::fabs(value) < 0x1p-126)) return static_cast<float>(value);
  const auto magnitude = static_cast<uint32_t>(std::fabs(value) * 0x1p149);
  return from_bits<float>(magnitude | (std::signbit(value) ? 0x80000000u : 0));
}

/// The value of a float of any dtype, as a double, which represents all of them exactly.
double float_value(Dtype dtype, Bits bits) {
  switch (dtype) {
    case Dtype::kF16:
    case Dtype::kBF16:
      return narrow_value(dtype, bits);
    case Dtype::kF32:
      return from_bits<float>(bits);
    default:
      return from_bits<double>(bits);
  }
}

/// An integer or bool, sign-extended.
int64_t integer_value(Dtype dtype, Bits bits) { return wrap_to(dtype, static_cast<int64_t>(bits)); }

/// Rounds once for f32 and f64, and through f32 for the 16-bit floats. T is float, double or int64_t.
template <typename T>
Bits float_bits(Dtype to, T value) {
  switch (to) {
    case Dtype::kF16:
      return f32_to_f16(static_cast<float>(value));
    case Dtype::kBF16:
      return f32_to_bf16(static_cast<float>(value));
    case Dtype::kF32:
      return to_bits(static_cast<float>(value));
    default:
      return to_bits(static_cast<double>(value));
  }
}

/// The low bits of `value`, as many as an element of `dtype` has.
Bits truncated(Dtype dtype, int64_t value) {
  const size_t width = 8 * size_of(dtype);
  const auto bits = static_cast<Bits>(value);
  return width == 64 ? bits : bits & ((Bits{1} << width) - 1);
}

}  // namespace

Bits compute_lane(Code code, Dtype dtype, Bits a, Bits b, Bits c) {
  switch (dtype) {
    case Dtype::kBool:
      return compute_bool(code, a, b);
    case Dtype::kU8:
      return compute_as_integer<uint8_t>(code, dtype, a, b);
    case Dtype::kI8:
      return compute_as_integer<int8_t>(code, dtype, a, b);
    case Dtype::kI16:
      return compute_as_integer<int16_t>(code, dtype, a, b);
    case Dtype::kI32:
      return compute_as_integer<int32_t>(code, dtype, a, b);
    case Dtype::kI64:
      return compute_as_integer<int64_t>(code, dtype, a, b);
    case Dtype::kF32:
      return compute_float(code, dtype, from_bits<float>(a), from_bits<float>(b), from_bits<float>(c));
    case Dtype::kF64:
      return compute_float(code, dtype, from_bits<double>(a), from_bits<double>(b), from_bits<double>(c));
    default:
      undefined(code, dtype, "16-bit floats have no arithmetic");
  }
}

Bits convert_lane(Dtype from, Dtype to, Bits value) {
  if (is_float(from)) {
    const double real = float_value(from, value);
    if (!is_float(to)) return truncated(to, saturate_to(to, real));
    if (from == Dtype::kF64) return float_bits(to, real);
    // Converting through double would flush denormals where the instruction itself does not.
    return float_bits(to, from == Dtype::kF32 ? from_bits<float>(value) : narrow_value(from, value));
  }
  const int64_t integer = integer_value(from, value);
  return is_float(to) ? float_bits(to, integer) : truncated(to, wrap_to(to, integer));
}

Bits constant_bits(const Instruction& constant) {
  const Dtype dtype = constant.type.element;
  if (!is_float(dtype)) return truncated(dtype, constant.integer);
  if (dtype == Dtype::kF64) return to_bits(constant.real);
  return float_bits(dtype, exact_float(constant.real));
}

}  // namespace lucid::loop
