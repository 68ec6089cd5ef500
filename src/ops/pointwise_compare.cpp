// Comparisons and logical ops. Their results are bool.

#include <limits>

#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using loop::Code;

/// Only numbers have an order in the loop language, so bools are compared as 0 and 1.
loop::Value ordered(loop::Value x) { return x.dtype() == Dtype::kBool ? x.builder().convert(x, Dtype::kU8) : x; }

template <typename F>
Op comparison(Op op, Code code, F f) {
  op.promote = Promote::kCompare;
  op.lowering =
      lower_binary([code](loop::Value x, loop::Value y) { return x.builder().binary(code, ordered(x), ordered(y)); });
  op.reference = reference_binary<Domain::kAll>(f);
  op.gradient = zero_gradient();
  op.samples = binary_samples();
  return op;
}

Op eq() {
  return comparison({.signature = "eq(x, y)",
                     .doc = R"(Returns x == y, elementwise, as a bool tensor, with broadcasting.

>>> lucid.eq(lucid.tensor([1, 2]), 2)
tensor([False,  True]))",
                     .names = {.python_operator = Operator::kEqual}},
                    Code::kEq, [](auto x, auto y) { return x == y; });
}

Op ne() {
  return comparison({.signature = "ne(x, y)",
                     .doc = R"(Returns x != y, elementwise, as a bool tensor, with broadcasting.

>>> lucid.ne(lucid.tensor([1, 2]), 2)
tensor([ True, False]))",
                     .names = {.python_operator = Operator::kNotEqual}},
                    Code::kNe, [](auto x, auto y) { return x != y; });
}

Op lt() {
  return comparison({.signature = "lt(x, y)",
                     .doc = R"(Returns x < y, elementwise, as a bool tensor, with broadcasting.

>>> lucid.lt(lucid.tensor([1, 2]), 2)
tensor([ True, False]))",
                     .names = {.python_operator = Operator::kLess}},
                    Code::kLt, [](auto x, auto y) { return x < y; });
}

Op le() {
  return comparison({.signature = "le(x, y)",
                     .doc = R"(Returns x <= y, elementwise, as a bool tensor, with broadcasting.

>>> lucid.le(lucid.tensor([1, 3]), 2)
tensor([ True, False]))",
                     .names = {.python_operator = Operator::kLessEqual}},
                    Code::kLe, [](auto x, auto y) { return x <= y; });
}

Op gt() {
  return comparison({.signature = "gt(x, y)",
                     .doc = R"(Returns x > y, elementwise, as a bool tensor, with broadcasting.

>>> lucid.gt(lucid.tensor([1, 3]), 2)
tensor([False,  True]))",
                     .names = {.python_operator = Operator::kGreater}},
                    Code::kGt, [](auto x, auto y) { return x > y; });
}

Op ge() {
  return comparison({.signature = "ge(x, y)",
                     .doc = R"(Returns x >= y, elementwise, as a bool tensor, with broadcasting.

>>> lucid.ge(lucid.tensor([1, 2]), 2)
tensor([False,  True]))",
                     .names = {.python_operator = Operator::kGreaterEqual}},
                    Code::kGe, [](auto x, auto y) { return x >= y; });
}

/// Whether a number counts as true.
loop::Value truth(loop::Value x) { return x.builder().convert(x, Dtype::kBool); }

/// Completes a logical op on two operands, which are true if nonzero.
template <typename F>
Op logic(Op op, Code code, F f) {
  op.promote = Promote::kCompare;
  op.lowering =
      lower_binary([code](loop::Value x, loop::Value y) { return x.builder().binary(code, truth(x), truth(y)); });
  op.reference = reference_binary<Domain::kAll>([f](auto x, auto y) { return f(x != 0, y != 0); });
  op.gradient = zero_gradient();
  op.samples = binary_samples();
  return op;
}

Op logical_and() {
  return logic({.signature = "logical_and(x, y)",
                .doc = R"(Returns whether both `x` and `y` are nonzero, elementwise, as a bool tensor, with
broadcasting.

>>> lucid.logical_and(lucid.tensor([True, True]), lucid.tensor([True, False]))
tensor([ True, False]))"},
               Code::kAnd, [](bool x, bool y) { return x && y; });
}

Op logical_or() {
  return logic({.signature = "logical_or(x, y)",
                .doc = R"(Returns whether `x` or `y` is nonzero, elementwise, as a bool tensor, with broadcasting.

>>> lucid.logical_or(lucid.tensor([True, False]), lucid.tensor([False, False]))
tensor([ True, False]))"},
               Code::kOr, [](bool x, bool y) { return x || y; });
}

Op logical_xor() {
  return logic({.signature = "logical_xor(x, y)",
                .doc = R"(Returns whether exactly one of `x` and `y` is nonzero, elementwise, as a bool tensor, with
broadcasting.

>>> lucid.logical_xor(lucid.tensor([True, False]), lucid.tensor([True, True]))
tensor([False,  True]))"},
               Code::kXor, [](bool x, bool y) { return x != y; });
}

/// Completes a predicate on one operand.
template <typename L, typename F>
Op predicate(Op op, L lower, F f) {
  op.promote = Promote::kCompare;
  op.lowering = lower_unary(lower);
  op.reference = reference_unary<Domain::kAll>(f);
  op.gradient = zero_gradient();
  op.samples = unary_samples();
  return op;
}

Op logical_not() {
  return predicate(
      {.signature = "logical_not(x)",
       .doc = R"(Returns whether `x` is zero, elementwise, as a bool tensor.

>>> lucid.logical_not(lucid.tensor([True, False]))
tensor([False,  True]))",
       .algebra = {.is_involution = true}},
      [](loop::Value x) { return ~truth(x); }, [](auto x) { return x == 0; });
}

loop::Value is_infinite(loop::Value x) {
  loop::Builder& b = x.builder();
  return b.unary(Code::kAbs, x) == b.like(x, std::numeric_limits<double>::infinity());
}

Op isnan() {
  return predicate(
      {.signature = "isnan(x)",
       .doc = R"(Returns whether `x` is NaN, elementwise, as a bool tensor.

>>> lucid.isnan(lucid.tensor([1.0, float("nan")]))
tensor([False,  True]))",
       .names = {.in_place = false}},
      [](loop::Value x) { return x != x; }, [](auto x) { return x != x; });
}

Op isinf() {
  return predicate(
      {.signature = "isinf(x)",
       .doc = R"(Returns whether `x` is positive or negative infinity, elementwise, as a bool tensor.

>>> lucid.isinf(lucid.tensor([1.0, float("-inf")]))
tensor([False,  True]))",
       .names = {.in_place = false}},
      [](loop::Value x) { return is_float(x.dtype()) ? is_infinite(x) : x != x; },
      []<typename T>(T x) {
        if constexpr (std::is_floating_point_v<T>)
          return static_cast<bool>(std::isinf(x));
        else
          return false;
      });
}

Op isfinite() {
  return predicate(
      {.signature = "isfinite(x)",
       .doc = R"(Returns whether `x` is neither infinite nor NaN, elementwise, as a bool tensor.

>>> lucid.isfinite(lucid.tensor([1.0, float("inf")]))
tensor([ True, False]))",
       .names = {.in_place = false}},
      [](loop::Value x) {
        if (!is_float(x.dtype())) return x == x;
        loop::Builder& b = x.builder();
        return b.unary(Code::kAbs, x) < b.like(x, std::numeric_limits<double>::infinity());
      },
      []<typename T>(T x) {
        if constexpr (std::is_floating_point_v<T>)
          return static_cast<bool>(std::isfinite(x));
        else
          return true;
      });
}

Op isclose() {
  return {
      .signature = "isclose(x, y, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False)",
      .doc = R"(Returns whether |x - y| <= atol + rtol * |y|, elementwise, as a bool tensor, with broadcasting.
Infinities are close only if they are equal. NaNs are close to each other only if `equal_nan` is true.
Integers are compared as floats.

>>> lucid.isclose(lucid.tensor([1.0, 2.0]), lucid.tensor([1.0, 2.1]))
tensor([ True, False]))",
      .names = {.in_place = false},
      .promote = Promote::kCompare,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Operand x = argument(call, in, 0);
        const Operand y = argument(call, in, 1);
        Value close = e.eq(x, y);
        if (call.flag("equal_nan")) close = e.logical_or(close, e.logical_and(e.isnan(x), e.isnan(y)));
        // Integers are compared as floats, so that their difference cannot wrap.
        const bool is_exact = !is_float(operand_dtype(call, 0));
        const Value wide_x = is_exact ? e.to(x, default_float()) : Value();
        const Value wide_y = is_exact ? e.to(y, default_float()) : Value();
        const Operand expected = is_exact ? wide_y : y;
        const Value difference = e.abs(e.sub(is_exact ? wide_x : x, expected));
        const Value allowed = e.add(e.abs(e.mul(expected, call.real("rtol"))), call.real("atol"));
        return {e.logical_or(close, e.logical_and(e.isfinite(difference), e.le(difference, allowed)))};
      },
      .gradient = zero_gradient(),
      .samples = binary_samples() + with({{{normal({5}), normal({5})}}}, {{"equal_nan", true}, {"rtol", 0.5}}),
  };
}

}  // namespace

void add_compare_ops(std::vector<Op>& ops) {
  for (auto make :
       {eq, ne, lt, le, gt, ge, logical_and, logical_or, logical_xor, logical_not, isnan, isinf, isfinite, isclose})
    ops.push_back(make());
}

}  // namespace lucid
