// Mathematical functions of one or two real numbers. Their loops are in loop/math.h.

#include <numbers>

#include "loop/math.h"
#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

/// Completes a function of floats with the loop `lower`. `f` defines its result and computes in a wider type.
template <typename F>
Op function(Op op, loop::Value (*lower)(loop::Value), F f, Fill fill = Fill::kNormal) {
  op.promote = Promote::kFloat;
  op.lowering = lower_unary(lower);
  op.reference = reference_in_wide(f);
  op.samples = unary_samples(fill);
  if (op.ulp == 0) op.ulp = 2;
  return op;
}

Op exp() {
  return function(
      {.signature = "exp(x)",
       .doc = R"(Computes the exponential of `x`, elementwise. Integers are promoted to float.

>>> lucid.exp(lucid.tensor([0.0, 1.0]))
tensor([1.0000, 2.7183]))",
       .gradient = gradient_of_output([](Emitter& e, const Value& g, const Value& y) { return e.mul(g, y); })},
      loop::exp, [](auto x) { return std::exp(x); });
}

Op exp2() {
  return function({.signature = "exp2(x)",
                   .doc = R"(Computes 2 to the power `x`, elementwise. Integers are promoted to float.

>>> lucid.exp2(lucid.tensor([0.0, 3.0]))
tensor([1., 8.]))",
                   .gradient = gradient_of_output([](Emitter& e, const Value& g, const Value& y) {
                     return e.mul(g, e.mul(y, std::numbers::ln2));
                   })},
                  loop::exp2, [](auto x) { return std::exp2(x); });
}

Op expm1() {
  return function({.signature = "expm1(x)",
                   .doc = R"(Computes exp(x) - 1, elementwise, with full accuracy near 0. Integers are promoted to
float.

>>> lucid.expm1(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 1.7183]))",
                   .gradient = gradient_of_output(
                       [](Emitter& e, const Value& g, const Value& y) { return e.mul(g, e.add(y, 1)); })},
                  loop::expm1, [](auto x) { return std::expm1(x); });
}

Op log() {
  return function(
      {.signature = "log(x)",
       .doc = R"(Computes the natural logarithm of `x`, elementwise. The result is -inf at 0 and NaN for negative `x`.
Integers are promoted to float.

>>> lucid.log(lucid.tensor([1.0, 10.0]))
tensor([0.0000, 2.3026]))",
       .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) { return e.div(g, x); })},
      loop::log, [](auto x) { return std::log(x); }, Fill::kPositive);
}

Op log2() {
  return function(
      {.signature = "log2(x)",
       .doc = R"(Computes the base-2 logarithm of `x`, elementwise. The result is -inf at 0 and NaN for negative `x`.
Integers are promoted to float.

>>> lucid.log2(lucid.tensor([1.0, 8.0]))
tensor([0., 3.]))",
       .gradient = gradient_of_input(
           [](Emitter& e, const Value& g, const Value& x) { return e.div(g, e.mul(x, std::numbers::ln2)); })},
      loop::log2, [](auto x) { return std::log2(x); }, Fill::kPositive);
}

Op log10() {
  return function(
      {.signature = "log10(x)",
       .doc = R"(Computes the base-10 logarithm of `x`, elementwise. The result is -inf at 0 and NaN for negative `x`.
Integers are promoted to float.

>>> lucid.log10(lucid.tensor([1.0, 1000.0]))
tensor([0., 3.]))",
       .gradient = gradient_of_input(
           [](Emitter& e, const Value& g, const Value& x) { return e.div(g, e.mul(x, std::numbers::ln10)); })},
      loop::log10, [](auto x) { return std::log10(x); }, Fill::kPositive);
}

Op log1p() {
  return function(
      {.signature = "log1p(x)",
       .doc = R"(Computes the natural logarithm of 1 + x, elementwise, with full accuracy near 0. The result is -inf at
-1 and NaN below it. Integers are promoted to float.

>>> lucid.log1p(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 0.6931]))",
       .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) { return e.div(g, e.add(x, 1)); })},
      loop::log1p, [](auto x) { return std::log1p(x); }, Fill::kPositive);
}

Op sqrt() {
  Op op = function(
      {.signature = "sqrt(x)",
       .doc = R"(Computes the square root of `x`, correctly rounded, elementwise. The result is NaN for negative `x`.
Integers are promoted to float.

>>> lucid.sqrt(lucid.tensor([4.0, 9.0]))
tensor([2., 3.]))",
       .gradient =
           gradient_of_output([](Emitter& e, const Value& g, const Value& y) { return e.div(g, e.mul(y, 2)); })},
      [](loop::Value x) { return x.builder().unary(loop::Code::kSqrt, x); }, [](auto x) { return std::sqrt(x); },
      Fill::kPositive);
  op.reference = reference_unary<Domain::kFloats>([](auto x) { return std::sqrt(x); });
  op.ulp = 0;
  return op;
}

Op rsqrt() {
  return function(
      {.signature = "rsqrt(x)",
       .doc = R"(Computes 1 / sqrt(x), elementwise. The result is NaN for negative `x`. Integers are promoted to float.

>>> lucid.rsqrt(lucid.tensor([4.0, 16.0]))
tensor([0.5000, 0.2500]))",
       .gradient = gradient_of_output(
           [](Emitter& e, const Value& g, const Value& y) { return e.mul(e.mul(g, -0.5), e.mul(y, e.mul(y, y))); })},
      loop::rsqrt, [](auto x) { return 1 / std::sqrt(x); }, Fill::kPositive);
}

Op reciprocal() {
  Op op = function(
      {.signature = "reciprocal(x)",
       .doc = R"(Computes 1 / x, elementwise. Integers are promoted to float.

>>> lucid.reciprocal(lucid.tensor([2.0, -4.0]))
tensor([ 0.5000, -0.2500]))",
       .gradient =
           gradient_of_output([](Emitter& e, const Value& g, const Value& y) { return e.neg(e.mul(g, e.mul(y, y))); })},
      [](loop::Value x) { return 1.0 / x; }, [](auto x) { return 1 / x; }, Fill::kNonZero);
  op.reference = reference_unary<Domain::kFloats>([]<typename T>(T x) { return T(1) / x; });
  op.ulp = 0;
  return op;
}

Op sin() {
  return function(
      {.signature = "sin(x)",
       .doc = R"(Computes the sine of `x`, in radians, elementwise. Integers are promoted to float.

>>> lucid.sin(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 0.8415]))",
       .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) { return e.mul(g, e.cos(x)); })},
      loop::sin, [](auto x) { return std::sin(x); });
}

Op cos() {
  return function({.signature = "cos(x)",
                   .doc = R"(Computes the cosine of `x`, in radians, elementwise. Integers are promoted to float.

>>> lucid.cos(lucid.tensor([0.0, 1.0]))
tensor([1.0000, 0.5403]))",
                   .gradient = gradient_of_input(
                       [](Emitter& e, const Value& g, const Value& x) { return e.neg(e.mul(g, e.sin(x))); })},
                  loop::cos, [](auto x) { return std::cos(x); });
}

Op tan() {
  return function(
      {.signature = "tan(x)",
       .doc = R"(Computes the tangent of `x`, in radians, elementwise. Integers are promoted to float.

>>> lucid.tan(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 1.5574]))",
       .gradient = gradient_of_output(
           [](Emitter& e, const Value& g, const Value& y) { return e.mul(g, e.add(e.mul(y, y), 1)); })},
      loop::tan, [](auto x) { return std::tan(x); }, Fill::kUnit);
}

Op asin() {
  return function(
      {.signature = "asin(x)",
       .doc = R"(Computes the inverse sine of `x`, elementwise. The result is in [-pi/2, pi/2], or NaN for |x| > 1.
Integers are promoted to float.

>>> lucid.asin(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 1.5708]))",
       .gradient = gradient_of_input(
           [](Emitter& e, const Value& g, const Value& x) { return e.mul(g, e.rsqrt(e.sub(1, e.mul(x, x)))); })},
      loop::asin, [](auto x) { return std::asin(x); }, Fill::kUnit);
}

Op acos() {
  return function(
      {.signature = "acos(x)",
       .doc = R"(Computes the inverse cosine of `x`, elementwise. The result is in [0, pi], or NaN for |x| > 1. Integers
are promoted to float.

>>> lucid.acos(lucid.tensor([1.0, 0.0]))
tensor([0.0000, 1.5708]))",
       .gradient = gradient_of_input(
           [](Emitter& e, const Value& g, const Value& x) { return e.neg(e.mul(g, e.rsqrt(e.sub(1, e.mul(x, x))))); })},
      loop::acos, [](auto x) { return std::acos(x); }, Fill::kUnit);
}

Op atan() {
  return function({.signature = "atan(x)",
                   .doc = R"(Computes the inverse tangent of `x`, elementwise. The result is in [-pi/2, pi/2]. Integers
are promoted to float.

>>> lucid.atan(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 0.7854]))",
                   .gradient = gradient_of_input(
                       [](Emitter& e, const Value& g, const Value& x) { return e.div(g, e.add(e.mul(x, x), 1)); })},
                  loop::atan, [](auto x) { return std::atan(x); });
}

Op atan2() {
  return {
      .signature = "atan2(y, x)",
      .doc = R"(Computes the angle of the point (x, y), elementwise, with broadcasting. The result is in [-pi, pi]. The
signs of both arguments select the quadrant. Integers are promoted to float.

>>> lucid.atan2(lucid.tensor([1.0, 0.0]), lucid.tensor([1.0, -1.0]))
tensor([0.7854, 3.1416]))",
      .promote = Promote::kFloat,
      .lowering = lower_binary(loop::atan2),
      .reference = reference_binary<Domain::kFloats>(
          []<typename T>(T y, T x) { return static_cast<T>(std::atan2(Wide<T>(y), Wide<T>(x))); }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Operand y = call.argument(0);
                     const Operand x = call.argument(1);
                     const Value scaled = e.div(g[0], e.add(e.mul(x, x), e.mul(y, y)));
                     return {e.mul(scaled, x), e.neg(e.mul(scaled, y))};
                   },
                   .saved_inputs = {0, 1}},
      .samples = binary_samples(Fill::kNonZero, Fill::kNonZero),
      .ulp = 2,
  };
}

Op sinh() {
  return function(
      {.signature = "sinh(x)",
       .doc = R"(Computes the hyperbolic sine of `x`, elementwise. Integers are promoted to float.

>>> lucid.sinh(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 1.1752]))",
       .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) { return e.mul(g, e.cosh(x)); })},
      loop::sinh, [](auto x) { return std::sinh(x); });
}

Op cosh() {
  return function(
      {.signature = "cosh(x)",
       .doc = R"(Computes the hyperbolic cosine of `x`, elementwise. Integers are promoted to float.

>>> lucid.cosh(lucid.tensor([0.0, 1.0]))
tensor([1.0000, 1.5431]))",
       .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) { return e.mul(g, e.sinh(x)); })},
      loop::cosh, [](auto x) { return std::cosh(x); });
}

Op tanh() {
  return function({.signature = "tanh(x)",
                   .doc = R"(Computes the hyperbolic tangent of `x`, elementwise. Integers are promoted to float.

>>> lucid.tanh(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 0.7616]))",
                   .gradient = gradient_of_output(
                       [](Emitter& e, const Value& g, const Value& y) { return e.mul(g, e.sub(1, e.mul(y, y))); })},
                  loop::tanh, [](auto x) { return std::tanh(x); });
}

Op asinh() {
  return function({.signature = "asinh(x)",
                   .doc = R"(Computes the inverse hyperbolic sine of `x`, elementwise. Integers are promoted to float.

>>> lucid.asinh(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 0.8814]))",
                   .gradient = gradient_of_input([](Emitter& e, const Value& g, const Value& x) {
                     return e.mul(g, e.rsqrt(e.add(e.mul(x, x), 1)));
                   })},
                  loop::asinh, [](auto x) { return std::asinh(x); });
}

Op acosh() {
  return function(
      {.signature = "acosh(x)",
       .doc = R"(Computes the inverse hyperbolic cosine of `x`, elementwise. The result is NaN for x < 1. Integers are
promoted to float.

>>> lucid.acosh(lucid.tensor([1.0, 2.0]))
tensor([0.0000, 1.3170]))",
       .gradient = gradient_of_input(
           [](Emitter& e, const Value& g, const Value& x) { return e.mul(g, e.rsqrt(e.sub(e.mul(x, x), 1))); })},
      loop::acosh, [](auto x) { return std::acosh(x); }, Fill::kLarge);
}

Op atanh() {
  return function(
      {.signature = "atanh(x)",
       .doc = R"(Computes the inverse hyperbolic tangent of `x`, elementwise. The result is infinite for |x| = 1 and NaN
for |x| > 1. Integers are promoted to float.

>>> lucid.atanh(lucid.tensor([0.0, 0.5]))
tensor([0.0000, 0.5493]))",
       .gradient = gradient_of_input(
           [](Emitter& e, const Value& g, const Value& x) { return e.div(g, e.sub(1, e.mul(x, x))); })},
      loop::atanh, [](auto x) { return std::atanh(x); }, Fill::kUnit);
}

Op sigmoid() {
  return function({.signature = "sigmoid(x)",
                   .doc = R"(Computes the logistic function 1 / (1 + exp(-x)), elementwise. Integers are promoted to
float.

>>> lucid.sigmoid(lucid.tensor([0.0, 1.0]))
tensor([0.5000, 0.7311]))",
                   .gradient = gradient_of_output(
                       [](Emitter& e, const Value& g, const Value& y) { return e.mul(g, e.mul(e.sub(1, y), y)); })},
                  loop::sigmoid, [](auto x) { return 1 / (1 + std::exp(-x)); });
}

/// The derivative of erf: 2 / sqrt(pi) * exp(-x * x).
Value erf_slope(Emitter& e, const Value& x) { return e.mul(e.exp(e.neg(e.mul(x, x))), 2 * std::numbers::inv_sqrtpi); }

Op erf() {
  return function({.signature = "erf(x)",
                   .doc = R"(Computes the error function of `x`, elementwise. Integers are promoted to float.

>>> lucid.erf(lucid.tensor([0.0, 1.0]))
tensor([0.0000, 0.8427]))",
                   .gradient = gradient_of_input(
                       [](Emitter& e, const Value& g, const Value& x) { return e.mul(g, erf_slope(e, x)); })},
                  loop::erf, [](auto x) { return std::erf(x); });
}

Op erfc() {
  return function({.signature = "erfc(x)",
                   .doc = R"(Computes the complementary error function 1 - erf(x), elementwise, with full accuracy for
large `x`. Integers are promoted to float.

>>> lucid.erfc(lucid.tensor([0.0, 1.0]))
tensor([1.0000, 0.1573]))",
                   .gradient = gradient_of_input(
                       [](Emitter& e, const Value& g, const Value& x) { return e.neg(e.mul(g, erf_slope(e, x))); })},
                  loop::erfc, [](auto x) { return std::erfc(x); });
}

Op ndtr() {
  return function(
      {.signature = "ndtr(x)",
       .doc = R"(Computes the cumulative distribution function of the standard normal distribution at `x`, elementwise,
with full accuracy in both tails. Integers are promoted to float.

>>> lucid.ndtr(lucid.tensor([-1.0, 0.0, 1.0]))
tensor([0.1587, 0.5000, 0.8413]))",
       .gradient = gradient_of_input(
           [](Emitter& e, const Value& g, const Value& x) { return e.mul(g, normal_density(e, x)); })},
      loop::ndtr, []<typename T>(T x) { return std::erfc(-x / std::numbers::sqrt2_v<T>) / 2; });
}

}  // namespace

void add_math_ops(std::vector<Op>& ops) {
  for (auto make : {exp,  exp2, expm1, log,  log2, log10, log1p, sqrt,  rsqrt, reciprocal, sin, cos,  tan, asin,
                    acos, atan, atan2, sinh, cosh, tanh,  asinh, acosh, atanh, sigmoid,    erf, erfc, ndtr})
    ops.push_back(make());
}

}  // namespace lucid
