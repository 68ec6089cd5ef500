// Powers: exact for integers, computed with our own logarithms and exponentials for floats.

#include <cmath>

#include "loop/math.h"
#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using loop::Builder;
using loop::Code;

/// x to a negative power in integers: 1 or -1 if x is 1 or -1, and 0 for every other x.
loop::Value negative_power(loop::Value x, loop::Value is_odd) {
  Builder& b = x.builder();
  const loop::Value one = b.like(x, 1);
  const loop::Value minus_one = b.like(x, -1);
  return b.select(x == one, one, b.select(x == minus_one, b.select(is_odd, minus_one, one), b.like(x, 0)));
}

/// Exponentiation by squaring, one bit of the exponent at a time. Wraps on overflow.
loop::Value integer_power(loop::Value x, loop::Value y) {
  Builder& b = x.builder();
  const loop::Value one = b.like(x, 1);
  const loop::Value zero = b.like(x, 0);
  const auto is_odd = [&](loop::Value value) { return (value & one) != zero; };
  // If x or y is a vector, all values that the loop carries must be vectors.
  const auto shaped = [&](loop::Value value) { return x.is_vector() || y.is_vector() ? b.splat(value) : value; };
  const loop::Value initial[] = {shaped(one), shaped(x), shaped(y)};
  const int64_t bits = static_cast<int64_t>(8 * size_of(x.dtype()));
  const auto carried = b.for_loop(b.index(0), b.index(bits), 1, initial,
                                  [&](loop::Value, std::span<const loop::Value> in) -> std::vector<loop::Value> {
                                    return {b.select(is_odd(in[2]), in[0] * in[1], in[0]), in[1] * in[1],
                                            b.binary(Code::kShrLogical, in[2], one)};
                                  });
  if (x.dtype() == Dtype::kU8) return carried[0];
  return b.select(y < zero, negative_power(x, is_odd(y)), carried[0]);
}

template <typename T>
T power_of(T x, T y) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y)));
  } else if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(std::pow(static_cast<long double>(x), static_cast<long double>(y)));
  } else {
    if (y < 0) return static_cast<T>(x == 1 ? 1 : x == static_cast<T>(-1) ? (y % 2 ? -1 : 1) : 0);
    uint64_t result = 1;
    uint64_t base = bits_of(x);
    for (uint64_t exponent = bits_of(y); exponent > 0; exponent >>= 1) {
      if (exponent & 1) result *= base;
      base *= base;
    }
    return wrapped<T>(result);
  }
}

/// The gradients of the base and the exponent. They are 0 where the power does not depend on them.
Values power_gradient(Emitter& e, const GradientCall& call, std::span<const Value> g) {
  const Operand x = call.argument(0);
  const Operand y = call.argument(1);
  Values result(2);
  if (call.needs(0)) {
    if (y.is_scalar()) {
      const Scalar& exponent = y.scalar();
      const Scalar less = exponent.is_float() ? Scalar(exponent.to_double() - 1) : Scalar(exponent.to_int() - 1);
      result[0] = exponent.to_double() == 0 ? e.zeros_of(g[0]) : e.mul(g[0], e.mul(e.pow(x, less), exponent));
    } else {
      const Value slope = e.mul(e.pow(x, e.sub(y, 1)), y);
      result[0] = e.where(e.eq(y, 0), 0, e.mul(g[0], slope));
    }
  }
  if (call.needs(1) && x.is_scalar()) {
    const double base = x.scalar().to_double();
    result[1] = e.mul(g[0], e.mul(e.pow(x, y), std::log(base)));
    if (base == 0) result[1] = e.where(e.ge(y, 0), 0, result[1]);
  } else if (call.needs(1)) {
    const Value flat = e.logical_and(e.eq(x, 0), e.ge(y, 0));
    // Take the logarithm of 1 there, so that later derivatives do not multiply an infinity by 0.
    const Value base = e.where(flat, 1, x);
    result[1] = e.where(flat, 0, e.mul(g[0], e.mul(e.pow(x, y), e.log(base))));
  }
  return result;
}

std::vector<TensorType> infer_power(const Call& call) {
  std::vector<TensorType> types = infer_pointwise(call);
  const Operand& exponent = call.operand(1);
  if (exponent.is_scalar() && is_integer(types[0].dtype) && exponent.scalar().to_int() < 0)
    throw ValueError("{}: {} to the negative power {} is not an integer; convert the base to a float", call.name(),
                     to_string(call.operand(0).type()), exponent.scalar().to_int());
  return types;
}

Op power() {
  return {
      .signature = "power(x, y)",
      .doc = R"(Raises `x` to the power `y`, elementwise, with the same algorithm for every `y`. Integers wrap on
overflow. Negative powers of integers are 0, except for the bases 1 and -1. Raises ValueError if `x`
holds integers and `y` is a negative number.

>>> lucid.power(lucid.tensor([2, 3]), lucid.tensor([3, 2]))
tensor([8, 9]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .infer = infer_power,
      .lowering = lower_binary(
          [](loop::Value x, loop::Value y) { return is_float(x.dtype()) ? loop::pow(x, y) : integer_power(x, y); }),
      .reference = reference_binary<Domain::kNumbers>([](auto x, auto y) { return power_of(x, y); }),
      .gradient = {.rule = power_gradient, .saved_inputs = {0, 1}},
      .samples = {{{positive({37}), normal({37})}},
                  {{positive({3, 1}), positive({1, 4})}},
                  {{normal({19}), number(3)}},
                  {{number(2), normal({19})}},
                  {{positive({}), positive({2, 0})}}},
      .ulp = 2,
  };
}

Op pow() {
  return {
      .signature = "pow(x, y)",
      .doc = R"(Raises `x` to the power `y`, elementwise, with broadcasting and type promotion. The exponents 2, 3, 0.5,
-0.5, -1 and -2, given as numbers, are computed with products and roots. Integers wrap on overflow.
Raises ValueError if `x` holds integers and `y` is a negative number.

>>> lucid.pow(lucid.tensor([1.0, 2.0, 3.0]), 2)
tensor([1., 4., 9.]))",
      .names = {.in_place = true, .python_operator = Operator::kPower},
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .infer = infer_power,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Operand x = argument(call, in, 0);
        const Operand y = argument(call, in, 1);
        if (call.operand(1).is_scalar() && x.is_value()) {
          const double exponent = call.operand(1).scalar().to_double();
          if (exponent == 2) return {e.mul(x, x)};
          if (exponent == 3) return {e.mul(e.mul(x, x), x)};
          if (exponent == 0.5) return {e.sqrt(x)};
          if (exponent == -0.5) return {e.rsqrt(x)};
          if (exponent == -1) return {e.reciprocal(x)};
          if (exponent == -2) return {e.reciprocal(e.mul(x, x))};
        }
        return {e.power(x, y)};
      },
      .gradient = {.rule = power_gradient, .saved_inputs = {0, 1}},
      .samples = {{{positive({37}), normal({37})}},
                  {{positive({2, 3}), number(2)}},
                  {{normal({19}), number(3)}},
                  {{positive({19}), number(0.5)}},
                  {{positive({19}), number(-0.5)}},
                  {{nonzero({19}), number(-1.0)}},
                  {{nonzero({19}), number(-2.0)}},
                  {{normal({19}), number(0)}},
                  {{strided({4, 3}, {1, 4}, Fill::kPositive), number(1.5)}},
                  {{number(2), normal({0, 3})}},
                  {{normal({}), number(4)}}},
      .ulp = 2,
  };
}

}  // namespace

void add_power_ops(std::vector<Op>& ops) {
  for (auto make : {power, pow}) ops.push_back(make());
}

}  // namespace lucid
