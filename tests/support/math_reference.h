#pragma once

#include <xmmintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "loop/builder.h"
#include "loop/math.h"

/// The reference of the math functions: the C library, in double for f32 and in 80-bit long double for f64.
namespace lucid::math_reference {

template <typename T>
T sigmoid(T x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
template <typename T>
T rsqrt(T x) {
  return 1 / std::sqrt(x);
}

template <typename T>
T ndtr(T x) {
  // x = -(y + rest) sqrt(2): erfc multiplies the rounding of its argument by y.
  const T root = std::numbers::sqrt2_v<T>;
  const T root_error = -std::fma(root, root, T{-2}) / (2 * root);
  const T y = -x / root;
  const T tail = std::erfc(y) / 2;
  const T rest = -(std::fma(y, root, x) + y * root_error) / root;
  return y > 1 && tail > 0 ? tail * (1 - 2 * y * rest) : tail;
}
template <typename T>
T gelu(T x) {
  return x * ndtr(x);
}
template <typename T>
T gelu_tanh(T x) {
  return x * sigmoid(std::sqrt(8 / std::numbers::pi_v<T>) * (x + T{44715} / 1000000 * (x * x * x)));
}
template <typename T>
T silu(T x) {
  return x * sigmoid(x);
}
template <typename T>
T mish(T x) {
  return x * std::tanh(std::log1p(std::exp(x)));
}
template <typename T>
T tanhshrink(T x) {
  if (!(std::fabs(x) < 1)) return x - std::tanh(x);
  // (x cosh(x) - sinh(x)) / cosh(x), whose numerator is the sum of 2 k x^(2 k + 1) / (2 k + 1)!.
  T sum = x * 0, term = x;
  for (int k = 1; k < 12; ++k) {
    term *= x * x / (2 * k * (2 * k + 1));
    sum += 2 * k * term;
  }
  return sum / std::cosh(x);
}

struct Unary {
  const char* name;
  loop::Value (*build)(loop::Value);
  double (*in_double)(double);
  long double (*in_long_double)(long double);
  /// The maximum error in f32 and f64; docs/accuracy.md lists the measured ones.
  double limit = 1.5;
};

struct Binary {
  const char* name;
  loop::Value (*build)(loop::Value, loop::Value);
  double (*in_double)(double, double);
  long double (*in_long_double)(long double, long double);
};

inline const std::vector<Unary>& unary_functions() {
  static const std::vector<Unary> functions = {
      {"exp", loop::exp, std::exp, std::exp},
      {"exp2", loop::exp2, std::exp2, std::exp2},
      {"expm1", loop::expm1, std::expm1, std::expm1},
      {"log", loop::log, std::log, std::log},
      {"log2", loop::log2, std::log2, std::log2},
      {"log10", loop::log10, std::log10, std::log10},
      {"log1p", loop::log1p, std::log1p, std::log1p},
      {"rsqrt", loop::rsqrt, rsqrt<double>, rsqrt<long double>},
      {"sin", loop::sin, std::sin, std::sin},
      {"cos", loop::cos, std::cos, std::cos},
      {"tan", loop::tan, std::tan, std::tan},
      {"asin", loop::asin, std::asin, std::asin},
      {"acos", loop::acos, std::acos, std::acos},
      {"atan", loop::atan, std::atan, std::atan},
      {"sinh", loop::sinh, std::sinh, std::sinh},
      {"cosh", loop::cosh, std::cosh, std::cosh},
      {"tanh", loop::tanh, std::tanh, std::tanh},
      {"asinh", loop::asinh, std::asinh, std::asinh},
      {"acosh", loop::acosh, std::acosh, std::acosh},
      {"atanh", loop::atanh, std::atanh, std::atanh},
      {"sigmoid", loop::sigmoid, sigmoid<double>, sigmoid<long double>},
      {"erf", loop::erf, std::erf, std::erf},
      {"erfc", loop::erfc, std::erfc, std::erfc},
      {"ndtr", loop::ndtr, ndtr<double>, ndtr<long double>, 2},
      {"gelu", loop::gelu, gelu<double>, gelu<long double>, 3},
      {"gelu_tanh", loop::gelu_tanh, gelu_tanh<double>, gelu_tanh<long double>, 3},
      {"silu", loop::silu, silu<double>, silu<long double>, 3},
      {"mish", loop::mish, mish<double>, mish<long double>, 4},
      {"tanhshrink", loop::tanhshrink, tanhshrink<double>, tanhshrink<long double>, 4},
  };
  return functions;
}

inline const std::vector<Binary>& binary_functions() {
  static const std::vector<Binary> functions = {
      {"pow", loop::pow, std::pow, std::pow},
      {"atan2", loop::atan2, std::atan2, std::atan2},
      {"fmod", loop::fmod, std::fmod, std::fmod},
  };
  return functions;
}

inline double exact(const Unary& f, float x) { return f.in_double(x); }
inline long double exact(const Unary& f, double x) { return f.in_long_double(x); }
inline double exact(const Binary& f, float x, float y) { return f.in_double(x, y); }
inline long double exact(const Binary& f, double x, double y) { return f.in_long_double(x, y); }

/// |got - exact| in units of the last place of `exact`; infinite for a wrong special case or sign of zero. With
/// `flushed`, a zero of the right sign is accepted for a subnormal result.
template <typename T, typename Exact>
double ulp_error(T got, Exact exact, bool flushed) {
  using Limits = std::numeric_limits<T>;
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : kWrong;
  if (std::isinf(exact)) return got == static_cast<T>(exact) ? 0 : kWrong;
  const bool same_sign = std::signbit(got) == std::signbit(exact);
  if (exact == 0) return got == 0 && same_sign ? 0 : kWrong;
  if (flushed && got == 0 && std::fabs(exact) < Limits::min()) return same_sign ? 0 : kWrong;
  // Infinity counts as the next number after the largest, as in rounding.
  const Exact limit = std::ldexp(Exact{1}, Limits::max_exponent);
  const Exact value = std::isinf(got) ? std::copysign(limit, static_cast<Exact>(got)) : static_cast<Exact>(got);
  if (std::fabs(exact) > limit) exact = std::copysign(limit, exact);
  int exponent = 0;
  std::frexp(exact, &exponent);
  exponent = std::min(std::max(exponent, Limits::min_exponent), Limits::max_exponent);
  return static_cast<double>(std::fabs(value - exact) / std::ldexp(Exact{1}, exponent - Limits::digits));
}

/// Sets whether subnormal results are flushed until the end of a scope. For calls of generated kernels only: a C++
/// compiler may move its own arithmetic across the scope's boundaries.
class FlushScope {
 public:
  explicit FlushScope(bool flush) : saved_(_mm_getcsr()) { _mm_setcsr(flush ? 0x9f80 : 0x1f80); }
  FlushScope(const FlushScope&) = delete;
  FlushScope& operator=(const FlushScope&) = delete;
  ~FlushScope() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
};

template <typename T>
constexpr Dtype kDtypeOf = std::is_same_v<T, float> ? Dtype::kF32 : Dtype::kF64;

/// A kernel that applies a function to its argument buffers, the last of which receives the results. It works on
/// vectors or on one element at a time.
inline loop::Kernel kernel_of(const Unary& function, Dtype dtype, bool vectors = true) {
  loop::Builder b(std::string(function.name) + "_test");
  const auto x = b.argument(dtype), out = b.argument(dtype);
  b.for_loop(b.begin(), b.end(), vectors ? loop::kLanes : 1, [&](loop::Value i) {
    const auto mask = vectors ? b.lanes_below(b.end() - i) : loop::Value();
    b.store(out, i, function.build(vectors ? b.load_vector(x, i, mask) : b.load(x, i)), mask);
  });
  return b.finish();
}

inline loop::Kernel kernel_of(const Binary& function, Dtype dtype, bool vectors = true) {
  loop::Builder b(std::string(function.name) + "_test");
  const auto x = b.argument(dtype), y = b.argument(dtype), out = b.argument(dtype);
  b.for_loop(b.begin(), b.end(), vectors ? loop::kLanes : 1, [&](loop::Value i) {
    const auto mask = vectors ? b.lanes_below(b.end() - i) : loop::Value();
    const auto left = vectors ? b.load_vector(x, i, mask) : b.load(x, i);
    const auto right = vectors ? b.load_vector(y, i, mask) : b.load(y, i);
    b.store(out, i, function.build(left, right), mask);
  });
  return b.finish();
}

/// Zeros, infinities, NaN, the ends of the subnormal and normal numbers, and values where functions change their
/// formula.
template <typename T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {Limits::quiet_NaN()};
  const T positive[] = {0,
                        Limits::denorm_min(),
                        Limits::min() / 2,
                        Limits::min() - Limits::denorm_min(),
                        Limits::min(),
                        Limits::epsilon() / 2,
                        T(0.25),
                        T(0.47),
                        T(0.5),
                        T(0.625),
                        T(0.85),
                        1 - Limits::epsilon() / 2,
                        1,
                        1 + Limits::epsilon(),
                        T(1.5),
                        2,
                        T(2.5),
                        3,
                        4,
                        7,
                        10,
                        16,
                        25,
                        100,
                        1000,
                        T(8388607.5),
                        T(16777216),
                        T(16777217),
                        T(1073741824),
                        T(1e15),
                        T(1e16),
                        Limits::max() / 2,
                        Limits::max(),
                        Limits::infinity()};
  for (T value : positive) {
    values.push_back(value);
    values.push_back(-value);
  }
  return values;
}

/// A random number of one of several kinds: all bits random, all magnitudes around 1, uniform in the range of exp,
/// close to 1, a small integer, close to a multiple of pi / 2.
template <typename T>
T random_number(std::mt19937_64& generator) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const uint64_t bits = generator();
  const T sign = bits & 1 ? 1 : -1;
  const T unit = static_cast<T>(static_cast<double>(generator() >> 11) * 0x1p-53);
  switch (bits >> 61) {
    case 0:
    case 1:
      return std::bit_cast<T>(static_cast<Bits>(generator()));
    case 2:
    case 3:
      return sign * std::ldexp(1 + unit, static_cast<int>((bits >> 1) % 64) - 48);
    case 4:
      return sign * unit * (sizeof(T) == 4 ? 105 : 750);
    case 5:
      return 1 + sign * std::ldexp(unit, -static_cast<int>((bits >> 1) % 24));
    case 6:
      return sign * static_cast<T>((bits >> 1) % 100);
    default:
      return sign * static_cast<T>(std::ldexp(static_cast<double>(generator() >> 12), -static_cast<int>(bits % 51)) *
                                   1.5707963267948966);
  }
}

}  // namespace lucid::math_reference
