// Arithmetic: sums, products, quotients, remainders, absolute values, signs and rounding.

#include "loop/math.h"
#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using loop::Builder;
using loop::Code;

bool is_bool(loop::Value x) { return x.dtype() == Dtype::kBool; }
bool is_float(loop::Value x) { return is_float(x.dtype()); }
bool is_signed(loop::Value x) { return x.dtype() != Dtype::kU8; }

/// y with 0 and, for signed integers, -1 replaced by 1, so that the division cannot trap. Division by 0 is reported as
/// an error, and the smallest integer divided by -1 overflows.
loop::Value safe_divisor(loop::Value y) {
  Builder& b = y.builder();
  loop::Value bad = y == b.like(y, 0);
  if (is_signed(y)) bad = bad | (y == b.like(y, -1));
  return b.select(bad, b.like(y, 1), y);
}

/// Whether rounding x / y towards zero, which leaves this remainder, differs from rounding down.
loop::Value rounds_down(loop::Value remainder, loop::Value y) {
  const loop::Value zero = y.builder().like(y, 0);
  return (remainder != zero) & ((y < zero) ^ (remainder < zero));
}

loop::Value lower_remainder(loop::Value x, loop::Value y) {
  Builder& b = x.builder();
  const loop::Value remainder = is_float(x) ? loop::fmod(x, y) : b.binary(Code::kRem, x, safe_divisor(y));
  return b.select(rounds_down(remainder, y), remainder + y, remainder);
}

loop::Value lower_floor_divide(loop::Value x, loop::Value y) {
  Builder& b = x.builder();
  if (!is_float(x)) {
    const loop::Value divisor = safe_divisor(y);
    loop::Value quotient = b.binary(Code::kDiv, x, divisor);
    if (is_signed(x)) quotient = b.select(y == b.like(y, -1), -x, quotient);
    return b.select(rounds_down(b.binary(Code::kRem, x, divisor), y), quotient - 1, quotient);
  }
  const loop::Value zero = b.like(x, 0);
  const loop::Value remainder = loop::fmod(x, y);
  loop::Value quotient = (x - remainder) / y;
  quotient = b.select(rounds_down(remainder, y), quotient - 1, quotient);
  const loop::Value floor = b.unary(Code::kFloor, quotient);
  const loop::Value nearest = b.select(quotient - floor > b.like(x, 0.5), floor + 1, floor);
  const loop::Value signed_zero = b.binary(Code::kCopySign, zero, x / y);
  return b.select(y == zero, x / y, b.select(quotient != zero, nearest, signed_zero));
}

/// Division by zero is an error for integers but not for floats.
loop::Value divides_by_zero(Builder& b, std::span<const loop::Value> in, const Call&) {
  return is_float(in[1]) ? loop::Value() : in[1] == b.like(in[1], 0);
}

template <typename T>
T remainder_of(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    const T remainder = std::fmod(x, y);
    return remainder != 0 && (y < 0) != (remainder < 0) ? remainder + y : remainder;
  } else {
    if (y == 0) throw RuntimeError("remainder: division by zero");
    if (y == static_cast<T>(-1)) return std::is_signed_v<T> ? T(0) : static_cast<T>(x % y);
    const T remainder = static_cast<T>(x % y);
    return remainder != 0 && (y < 0) != (remainder < 0) ? static_cast<T>(remainder + y) : remainder;
  }
}

template <typename T>
T floor_quotient(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (y == 0) return x / y;
    const T remainder = std::fmod(x, y);
    T quotient = (x - remainder) / y;
    if (remainder != 0 && (y < 0) != (remainder < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(T(0), x / y);
    const T floor = std::floor(quotient);
    return quotient - floor > T(0.5) ? floor + 1 : floor;
  } else {
    if (y == 0) throw RuntimeError("floor_divide: division by zero");
    if (std::is_signed_v<T> && y == static_cast<T>(-1)) return wrapped<T>(0 - bits_of(x));
    const T quotient = static_cast<T>(x / y);
    const T remainder = static_cast<T>(x % y);
    return remainder != 0 && (y < 0) != (remainder < 0) ? static_cast<T>(quotient - 1) : quotient;
  }
}

Op add() {
  return {
      .signature = "add(x, y)",
      .doc = R"(Returns x + y, elementwise, with broadcasting and type promotion. For bools, this is logical or.
Integers wrap on overflow.

>>> lucid.add(lucid.tensor([1.0, 2.0]), 3)
tensor([4., 5.]))",
      .names = {.python_operator = Operator::kAdd},
      .algebra = {.neutral = Algebra::Neutral{0}},
      .promote = Promote::kSame,
      .lowering = lower_binary([](loop::Value x, loop::Value y) { return is_bool(x) ? x | y : x + y; }),
      .reference = reference_binary<Domain::kAll>([]<typename T>(T x, T y) -> T {
        if constexpr (std::is_same_v<T, bool>)
          return x || y;
        else if constexpr (std::is_integral_v<T>)
          return wrapped<T>(bits_of(x) + bits_of(y));
        else
          return x + y;
      }),
      .gradient = {.rule = [](Emitter&, const GradientCall&, std::span<const Value> g) -> Values {
        return {g[0], g[0]};
      }},
      .samples = binary_samples(),
  };
}

Op sub() {
  return {
      .signature = "sub(x, y)",
      .doc = R"(Returns x - y, elementwise, with broadcasting and type promotion. Integers wrap on overflow. Bools are
not supported.

>>> lucid.sub(lucid.tensor([1.0, 2.0]), 3)
tensor([-2., -1.]))",
      .names = {.python_operator = Operator::kSubtract},
      .algebra = {.neutral = Algebra::Neutral{0, false}},
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .lowering = lower_binary([](loop::Value x, loop::Value y) { return x - y; }),
      .reference = reference_binary<Domain::kNumbers>([]<typename T>(T x, T y) -> T {
        if constexpr (std::is_integral_v<T>)
          return wrapped<T>(bits_of(x) - bits_of(y));
        else
          return x - y;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        return {g[0], call.needs(1) ? e.neg(g[0]) : Value()};
      }},
      .samples = binary_samples(),
  };
}

Op mul() {
  return {
      .signature = "mul(x, y)",
      .doc = R"(Returns x * y, elementwise, with broadcasting and type promotion. For bools, this is logical and.
Integers wrap on overflow.

>>> lucid.mul(lucid.tensor([1.0, 2.0]), 3)
tensor([3., 6.]))",
      .names = {.python_operator = Operator::kMultiply},
      .algebra = {.neutral = Algebra::Neutral{1}},
      .promote = Promote::kSame,
      .lowering = lower_binary([](loop::Value x, loop::Value y) { return is_bool(x) ? x & y : x * y; }),
      .reference = reference_binary<Domain::kAll>([]<typename T>(T x, T y) -> T {
        if constexpr (std::is_same_v<T, bool>)
          return x && y;
        else if constexpr (std::is_integral_v<T>)
          return wrapped<T>(bits_of(x) * bits_of(y));
        else
          return x * y;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     return {call.needs(0) ? e.mul(g[0], call.argument(1)) : Value(),
                             call.needs(1) ? e.mul(g[0], call.argument(0)) : Value()};
                   },
                   .saved_inputs = {{0, {1}}, {1, {0}}}},
      .samples = binary_samples(),
  };
}

Op div() {
  return {
      .signature = "div(x, y)",
      .doc = R"(Returns x / y, elementwise, with broadcasting and type promotion. Integers and bools are converted to
the default float dtype. Division by zero yields an infinity or NaN.

>>> lucid.div(lucid.tensor([1, 2]), 4)
tensor([0.2500, 0.5000]))",
      .names = {.python_operator = Operator::kDivide},
      .promote = Promote::kFloat,
      .lowering = lower_binary([](loop::Value x, loop::Value y) { return x / y; }),
      .reference = reference_binary<Domain::kFloats>([](auto x, auto y) { return x / y; }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value first = e.div(g[0], call.argument(1));
                     if (!call.needs(1)) return {first, Value()};
                     return {first, e.neg(e.mul(first, e.div(call.argument(0), call.argument(1))))};
                   },
                   .saved_inputs = {{0, {1}}, 1}},
      .samples = binary_samples(Fill::kNormal, Fill::kNonZero),
  };
}

Op floor_divide() {
  return {
      .signature = "floor_divide(x, y)",
      .doc = R"(Returns floor(x / y), elementwise, with broadcasting and type promotion. Raises RuntimeError if an
integer is divided by zero.

>>> lucid.floor_divide(lucid.tensor([7, -7]), 2)
tensor([ 3, -4]))",
      .names = {.python_operator = Operator::kFloorDivide},
      .algebra = {.neutral = Algebra::Neutral{1, false}},
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .lowering = PointwiseLowering{.body = lower_binary(lower_floor_divide).body, .fails = divides_by_zero},
      .reference = reference_binary<Domain::kNumbers>([](auto x, auto y) { return floor_quotient(x, y); }),
      .gradient = zero_gradient(),
      .errors = {"floor_divide: division by zero"},
      .error_class = ErrorClass::kRuntime,
      .samples = binary_samples(Fill::kNormal, Fill::kNonZero),
  };
}

Op remainder() {
  return {
      .signature = "remainder(x, y)",
      .doc = R"(Returns the remainder of floor division, elementwise, with broadcasting and type promotion. The result
has the sign of `y`, as in Python. Raises RuntimeError if an integer is divided by zero.

>>> lucid.remainder(lucid.tensor([7, -7]), 4)
tensor([3, 1]))",
      .names = {.python_operator = Operator::kRemainder},
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .lowering = PointwiseLowering{.body = lower_binary(lower_remainder).body, .fails = divides_by_zero},
      .reference = reference_binary<Domain::kNumbers>([](auto x, auto y) { return remainder_of(x, y); }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     if (!call.needs(1)) return {g[0], Value()};
                     return {g[0], e.neg(e.mul(g[0], e.floor_divide(call.argument(0), call.argument(1))))};
                   },
                   .saved_inputs = {{0, {1}}, {1, {1}}}},
      .errors = {"remainder: division by zero"},
      .error_class = ErrorClass::kRuntime,
      .samples = binary_samples(Fill::kNormal, Fill::kNonZero),
  };
}

Op fmod() {
  return {
      .signature = "fmod(x, y)",
      .doc = R"(Returns the remainder of division rounded towards zero, elementwise, with broadcasting and type
promotion. The result has the sign of `x`, as in C. Raises RuntimeError if an integer is divided by
zero.

>>> lucid.fmod(lucid.tensor([7, -7]), 4)
tensor([ 3, -3]))",
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .lowering = PointwiseLowering{.body = lower_binary([](loop::Value x, loop::Value y) {
                                              if (is_float(x)) return loop::fmod(x, y);
                                              return x.builder().binary(Code::kRem, x, safe_divisor(y));
                                            }).body,
                                    .fails = divides_by_zero},
      .reference = reference_binary<Domain::kNumbers>([]<typename T>(T x, T y) -> T {
        if constexpr (std::is_floating_point_v<T>) {
          return std::fmod(x, y);
        } else {
          if (y == 0) throw RuntimeError("fmod: division by zero");
          return std::is_signed_v<T> && y == static_cast<T>(-1) ? T(0) : static_cast<T>(x % y);
        }
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     if (!call.needs(1)) return {g[0], Value()};
                     return {g[0], e.neg(e.mul(g[0], e.trunc(e.div(call.argument(0), call.argument(1)))))};
                   },
                   .saved_inputs = {{0, {1}}, {1, {1}}}},
      .errors = {"fmod: division by zero"},
      .error_class = ErrorClass::kRuntime,
      .samples = binary_samples(Fill::kNormal, Fill::kNonZero),
  };
}

Op neg() {
  return {
      .signature = "neg(x)",
      .doc = R"(Returns -x, elementwise. Integers wrap on overflow. Bools are not supported.

>>> lucid.neg(lucid.tensor([1.0, -2.0]))
tensor([-1.,  2.]))",
      .names = {.python_operator = Operator::kNegative},
      .algebra = {.is_involution = true},
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .lowering = lower_unary([](loop::Value x) { return -x; }),
      .reference = reference_unary<Domain::kNumbers>([]<typename T>(T x) -> T {
        if constexpr (std::is_integral_v<T>)
          return wrapped<T>(0 - bits_of(x));
        else
          return -x;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall&, std::span<const Value> g) -> Values {
        return {e.neg(g[0])};
      }},
      .samples = unary_samples(),
  };
}

Op abs() {
  return {
      .signature = "abs(x)",
      .doc = R"(Returns the absolute value of `x`, elementwise. The smallest value of a signed integer dtype is returned
unchanged, because its absolute value overflows.

>>> lucid.abs(lucid.tensor([1.0, -2.0]))
tensor([1., 2.]))",
      .names = {.python_operator = Operator::kAbsolute},
      .algebra = {.is_idempotent = true},
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .lowering = lower_unary([](loop::Value x) { return is_signed(x) ? x.builder().unary(Code::kAbs, x) : x; }),
      .reference = reference_unary<Domain::kNumbers>([]<typename T>(T x) -> T {
        if constexpr (std::is_integral_v<T>)
          return x < 0 ? wrapped<T>(0 - bits_of(x)) : x;
        else
          return std::fabs(x);
      }),
      .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) { return e.mul(g, e.sign(x)); }),
      .samples = unary_samples(),
  };
}

Op sign() {
  return {
      .signature = "sign(x)",
      .doc = R"(Returns -1, 0 or 1 according to the sign of `x`, elementwise. The sign of NaN is 0.

>>> lucid.sign(lucid.tensor([-3.0, 0.0, 2.0]))
tensor([-1.,  0.,  1.]))",
      .algebra = {.is_idempotent = true},
      .promote = Promote::kSame,
      .lowering = lower_unary([](loop::Value x) {
        if (is_bool(x)) return x;
        Builder& b = x.builder();
        const loop::Value zero = b.like(x, 0);
        const loop::Value positive = b.select(x > zero, b.like(x, 1), zero);
        return is_signed(x) ? b.select(x < zero, b.like(x, -1), positive) : positive;
      }),
      .reference =
          reference_unary<Domain::kAll>([]<typename T>(T x) { return static_cast<T>((x > T(0)) - (x < T(0))); }),
      .gradient = zero_gradient(),
      .samples = unary_samples(),
  };
}

Op square() {
  return {
      .signature = "square(x)",
      .doc = R"(Returns x * x, elementwise.

>>> lucid.square(lucid.tensor([1.0, -2.0]))
tensor([1., 4.]))",
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .decompose = [](Emitter& e, const Call&, std::span<const Value> in) -> Values { return {e.mul(in[0], in[0])}; },
      .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) { return e.mul(g, e.mul(x, 2)); }),
      .samples = unary_samples(),
  };
}

/// Completes a rounding op: one instruction for floats, the identity for integers.
Op rounding(Op op, Code code) {
  op.dtypes = kNumbers;
  op.promote = Promote::kSame;
  op.lowering = lower_unary([code](loop::Value x) { return is_float(x) ? x.builder().unary(code, x) : x; });
  op.gradient = zero_gradient();
  op.samples = unary_samples();
  return op;
}

template <typename F>
auto rounding_reference(F f) {
  return reference_unary<Domain::kNumbers>([f]<typename T>(T x) -> T {
    if constexpr (std::is_floating_point_v<T>)
      return f(x);
    else
      return x;
  });
}

Op floor() {
  return rounding({.signature = "floor(x)",
                   .doc = R"(Rounds `x` down to an integer, elementwise. The dtype does not change.

>>> lucid.floor(lucid.tensor([1.5, -1.5]))
tensor([ 1., -2.]))",
                   .algebra = {.is_idempotent = true},
                   .reference = rounding_reference([](auto x) { return std::floor(x); })},
                  Code::kFloor);
}

Op ceil() {
  return rounding({.signature = "ceil(x)",
                   .doc = R"(Rounds `x` up to an integer, elementwise. The dtype does not change.

>>> lucid.ceil(lucid.tensor([1.5, -1.5]))
tensor([ 2., -1.]))",
                   .algebra = {.is_idempotent = true},
                   .reference = rounding_reference([](auto x) { return std::ceil(x); })},
                  Code::kCeil);
}

Op trunc() {
  return rounding({.signature = "trunc(x)",
                   .doc = R"(Rounds `x` towards zero to an integer, elementwise. The dtype does not change.

>>> lucid.trunc(lucid.tensor([1.5, -1.5]))
tensor([ 1., -1.]))",
                   .algebra = {.is_idempotent = true},
                   .reference = rounding_reference([](auto x) { return std::trunc(x); })},
                  Code::kTrunc);
}

Op round() {
  return rounding({.signature = "round(x)",
                   .doc = R"(Rounds `x` to the nearest integer, with ties to even, elementwise. The dtype does not
change.

>>> lucid.round(lucid.tensor([0.5, 1.5, 1.7]))
tensor([0., 2., 2.]))",
                   .algebra = {.is_idempotent = true},
                   .reference = rounding_reference([](auto x) { return std::nearbyint(x); })},
                  Code::kRound);
}

}  // namespace

void add_arithmetic_ops(std::vector<Op>& ops) {
  for (auto make :
       {add, sub, mul, div, floor_divide, remainder, fmod, neg, abs, sign, square, floor, ceil, trunc, round})
    ops.push_back(make());
}

}  // namespace lucid
