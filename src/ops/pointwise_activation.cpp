// Activation functions of neural networks that are composed of other ops.

#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Decompose = Value (*)(Emitter& e, const Call& call, const Value& x);

/// Completes an activation that is composed of other ops.
Op activation(Op op, Decompose decompose) {
  op.dtypes = kFloats;
  op.promote = Promote::kSame;
  op.decompose = [decompose](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    return {decompose(e, call, in[0])};
  };
  op.samples = unary_samples() + op.samples;
  return op;
}

/// A gradient that reads the input and the call's attributes: slope(e, call, x) times the gradient of the result.
template <typename F>
Gradient by_slope(F slope) {
  return {.rule = [slope](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
            return {e.mul(g[0], slope(e, call, call.in(0)))};
          },
          .saved_inputs = {0}};
}

/// A gradient that is g where a condition on the input holds and 0 elsewhere.
template <typename F>
Gradient where_input(F passes) {
  return {.rule = [passes](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
            return {e.where(passes(e, call, call.in(0)), g[0], 0)};
          },
          .saved_inputs = {0},
          .has_flat_slope = true};
}

/// Strictly between two bounds, or NaN.
Value is_inside(Emitter& e, const Value& x, double low, double high) {
  return e.logical_not(e.logical_or(e.le(x, low), e.ge(x, high)));
}

Op relu() {
  return {
      .signature = "relu(x)",
      .doc = R"(Computes the rectified linear unit max(x, 0), elementwise. NaN is propagated.

>>> lucid.relu(lucid.tensor([-1.0, 2.0]))
tensor([0., 2.]))",
      .names = {.takes_inplace = true},
      .algebra = {.is_idempotent = true},
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .lowering = lower_unary([](loop::Value x) {
        const loop::Value zero = x.builder().like(x, 0);
        return x.builder().select(x <= zero, zero, x);
      }),
      .reference = reference_unary<Domain::kNumbers>([]<typename T>(T x) { return x <= T(0) ? T(0) : x; }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     return {e.where(e.le(call.out(), 0), 0, g[0])};
                   },
                   .saves_outputs = true,
                   .has_flat_slope = true},
      .samples = unary_samples(),
  };
}

Op relu6() {
  Op op = activation(
      {.signature = "relu6(x)",
       .doc = R"(Clamps `x` to [0, 6], elementwise. NaN is propagated.

>>> lucid.relu6(lucid.tensor([-1.0, 2.0, 9.0]))
tensor([0., 2., 6.]))",
       .names = {.in_place = true, .takes_inplace = true},
       .gradient = where_input([](Emitter& e, const Call&, const Value& x) { return is_inside(e, x, 0, 6); })},
      [](Emitter& e, const Call&, const Value& x) { return e.clamp(x, 0, 6); });
  op.dtypes = kNumbers;
  return op;
}

Op hardtanh() {
  Op op = activation({.signature = "hardtanh(x, min_val: float = -1.0, max_val: float = 1.0)",
                      .doc = R"(Clamps `x` to [min_val, max_val], elementwise. NaN is propagated.

>>> lucid.hardtanh(lucid.tensor([-3.0, 0.5]))
tensor([-1.0000,  0.5000]))",
                      .names = {.in_place = true, .takes_inplace = true},
                      .gradient = where_input([](Emitter& e, const Call& call, const Value& x) {
                        return is_inside(e, x, call.real("min_val"), call.real("max_val"));
                      }),
                      .samples = with({{{normal({19})}}}, {{"min_val", -0.5}, {"max_val", 2.0}})},
                     [](Emitter& e, const Call& call, const Value& x) {
                       return e.clamp(x, call.real("min_val"), call.real("max_val"));
                     });
  return op;
}

Op leaky_relu() {
  return activation(
      {.signature = "leaky_relu(x, negative_slope: float = 0.01)",
       .doc = R"(Returns `x` where x > 0 and x * negative_slope elsewhere, elementwise.

>>> lucid.leaky_relu(lucid.tensor([-1.0, 2.0]), 0.5)
tensor([-0.5000,  2.0000]))",
       .names = {.in_place = true, .takes_inplace = true},
       .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                      return {e.where(e.gt(call.in(0), 0), g[0], e.mul(g[0], call.real("negative_slope")))};
                    },
                    .saved_inputs = {0},
                    .has_flat_slope = true},
       .samples = with({{{normal({19})}}}, {{"negative_slope", 0.5}})},
      [](Emitter& e, const Call& call, const Value& x) {
        return e.where(e.gt(x, 0), x, e.mul(x, call.real("negative_slope")));
      });
}

/// scale * x above 0, and bend * (exp(x * rate) - 1) below.
Value exponential_unit(Emitter& e, const Value& x, double scale, double bend, double rate) {
  const Value above = scale == 1 ? x : e.mul(x, scale);
  const Value curve = e.expm1(rate == 1 ? x : e.mul(x, rate));
  return e.where(e.gt(x, 0), above, bend == 1 ? curve : e.mul(curve, bend));
}

/// The slope of exponential_unit. The argument of the exponential is at most 0, since an infinite exponential would
/// make second derivatives NaN.
Value exponential_slope(Emitter& e, const Value& x, double scale, double bend, double rate) {
  const Value below = e.where(e.ge(x, 0), 0, x);
  const Value curve = e.mul(e.exp(e.mul(below, rate)), bend * rate);
  return e.where(e.le(x, 0), curve, scale);
}

Op elu() {
  return activation(
      {.signature = "elu(x, alpha: float = 1.0)",
       .doc = R"(Computes the exponential linear unit, elementwise: `x` where x > 0 and alpha * (exp(x) - 1) elsewhere.

>>> lucid.elu(lucid.tensor([-1.0, 2.0]))
tensor([-0.6321,  2.0000]))",
       .names = {.in_place = true, .takes_inplace = true},
       .gradient = by_slope([](Emitter& e, const Call& call, const Value& x) {
         return exponential_slope(e, x, 1, call.real("alpha"), 1);
       }),
       .samples = with({{{normal({19})}}}, {{"alpha", 1.5}})},
      [](Emitter& e, const Call& call, const Value& x) { return exponential_unit(e, x, 1, call.real("alpha"), 1); });
}

Op celu() {
  return activation({.signature = "celu(x, alpha: float = 1.0)",
                     .doc = R"(Computes the continuously differentiable exponential linear unit, elementwise: `x` where
x > 0 and alpha * (exp(x / alpha) - 1) elsewhere.

>>> lucid.celu(lucid.tensor([-1.0, 2.0]))
tensor([-0.6321,  2.0000]))",
                     .names = {.in_place = true, .takes_inplace = true},
                     .gradient = by_slope([](Emitter& e, const Call& call, const Value& x) {
                       return exponential_slope(e, x, 1, call.real("alpha"), 1 / call.real("alpha"));
                     }),
                     .samples = with({{{normal({19})}}}, {{"alpha", 1.5}})},
                    [](Emitter& e, const Call& call, const Value& x) {
                      return exponential_unit(e, x, 1, call.real("alpha"), 1 / call.real("alpha"));
                    });
}

// The fixed point of self-normalising networks.
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

Op selu() {
  return activation({.signature = "selu(x)",
                     .doc = R"(Computes the scaled exponential linear unit scale * elu(x, alpha), elementwise, with
alpha = 1.6732632423543772 and scale = 1.0507009873554805. These constants preserve mean
0 and variance 1 through many layers.

>>> lucid.selu(lucid.tensor([-1.0, 2.0]))
tensor([-1.1113,  2.1014]))",
                     .names = {.in_place = true, .takes_inplace = true},
                     .gradient = by_slope([](Emitter& e, const Call&, const Value& x) {
                       return exponential_slope(e, x, kSeluScale, kSeluScale * kSeluAlpha, 1);
                     })},
                    [](Emitter& e, const Call&, const Value& x) {
                      return exponential_unit(e, x, kSeluScale, kSeluScale * kSeluAlpha, 1);
                    });
}

Op softplus() {
  return activation({.signature = "softplus(x, beta: float = 1.0, threshold: float = 20.0)",
                     .doc = R"(Computes log(1 + exp(beta * x)) / beta, elementwise. Returns `x` where beta * x >
threshold.

>>> lucid.softplus(lucid.tensor([0.0, 1.0]))
tensor([0.6931, 1.3133]))",
                     .names = {.in_place = true},
                     .gradient = by_slope([](Emitter& e, const Call& call, const Value& x) {
                       const Value scaled = e.mul(x, call.real("beta"));
                       return e.where(e.gt(scaled, call.real("threshold")), 1.0, e.sigmoid(scaled));
                     }),
                     .samples = with({{{normal({19})}}}, {{"beta", 2.0}, {"threshold", 1.0}})},
                    [](Emitter& e, const Call& call, const Value& x) {
                      const Value scaled = e.mul(x, call.real("beta"));
                      const Value soft = e.div(e.log1p(e.exp(scaled)), call.real("beta"));
                      return e.where(e.gt(scaled, call.real("threshold")), x, soft);
                    });
}

Op logsigmoid() {
  return activation({.signature = "logsigmoid(x)",
                     .doc = R"(Computes log(sigmoid(x)), elementwise, without overflow.

>>> lucid.logsigmoid(lucid.tensor([0.0, 1.0]))
tensor([-0.6931, -0.3133]))",
                     .names = {.in_place = true},
                     .gradient = by_slope([](Emitter& e, const Call&, const Value& x) { return e.sigmoid(e.neg(x)); })},
                    [](Emitter& e, const Call&, const Value& x) {
                      // Negate last, so that the result underflows to -0.
                      return e.neg(e.sub(e.log1p(e.exp(e.neg(e.abs(x)))), e.minimum(x, 0)));
                    });
}

Op softsign() {
  return activation({.signature = "softsign(x)",
                     .doc = R"(Computes x / (1 + |x|), elementwise.

>>> lucid.softsign(lucid.tensor([-1.0, 3.0]))
tensor([-0.5000,  0.7500]))",
                     .names = {.in_place = true}},
                    [](Emitter& e, const Call&, const Value& x) { return e.div(x, e.add(e.abs(x), 1)); });
}

Op hardshrink() {
  return activation(
      {.signature = "hardshrink(x, lambd: float = 0.5)",
       .doc = R"(Returns `x` where |x| > lambd and 0 elsewhere, elementwise. NaN is propagated.

>>> lucid.hardshrink(lucid.tensor([-1.0, 0.25]))
tensor([-1.,  0.]))",
       .names = {.in_place = true},
       .gradient = where_input([](Emitter& e, const Call& call, const Value& x) {
         return e.logical_not(e.le(e.abs(x), call.real("lambd")));
       }),
       .samples = with({{{normal({19})}}}, {{"lambd", 1.0}})},
      [](Emitter& e, const Call& call, const Value& x) { return e.where(e.le(e.abs(x), call.real("lambd")), 0, x); });
}

Op softshrink() {
  return activation({.signature = "softshrink(x, lambd: float = 0.5)",
                     .doc = R"(Moves `x` towards 0 by `lambd`, elementwise: x - lambd where x > lambd, x + lambd where x
< -lambd, and 0 elsewhere.

>>> lucid.softshrink(lucid.tensor([-1.0, 0.25]))
tensor([-0.5000,  0.0000]))",
                     .names = {.in_place = true},
                     .gradient = where_input([](Emitter& e, const Call& call, const Value& x) {
                       return e.logical_not(e.le(e.abs(x), call.real("lambd")));
                     }),
                     .samples = with({{{normal({19})}}}, {{"lambd", 1.0}})},
                    [](Emitter& e, const Call& call, const Value& x) {
                      const double lambd = call.real("lambd");
                      const Value below = e.where(e.lt(x, -lambd), e.add(x, lambd), e.mul(x, 0));
                      return e.where(e.gt(x, lambd), e.sub(x, lambd), below);
                    });
}

Op threshold() {
  Op op = activation({.signature = "threshold(x, threshold: float, value: float)",
                      .doc = R"(Returns `x` where x > threshold and `value` elsewhere, elementwise. NaN is propagated.

>>> lucid.threshold(lucid.tensor([-1.0, 2.0]), 0.5, 9.0)
tensor([9., 2.]))",
                      .names = {.in_place = true, .takes_inplace = true},
                      .gradient = where_input([](Emitter& e, const Call& call, const Value& x) {
                        return e.logical_not(e.le(x, call.real("threshold")));
                      })},
                     [](Emitter& e, const Call& call, const Value& x) {
                       return e.where(e.le(x, call.real("threshold")), call.real("value"), x);
                     });
  op.samples = with(op.samples, {{"threshold", 0.25}, {"value", -2.0}});
  return op;
}

Op hardsigmoid() {
  return activation({.signature = "hardsigmoid(x)",
                     .doc = R"(Computes x / 6 + 1/2 clamped to [0, 1], elementwise.

>>> lucid.hardsigmoid(lucid.tensor([-4.0, 0.0, 4.0]))
tensor([0.0000, 0.5000, 1.0000]))",
                     .names = {.in_place = true, .takes_inplace = true},
                     .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                                    return {e.where(e.lt(e.abs(call.in(0)), 3), e.mul(g[0], 1.0 / 6), 0)};
                                  },
                                  .saved_inputs = {0},
                                  .has_flat_slope = true}},
                    [](Emitter& e, const Call&, const Value& x) { return e.div(e.clamp(e.add(x, 3), 0, 6), 6); });
}

Op hardswish() {
  return activation({.signature = "hardswish(x)",
                     .doc = R"(Computes x * hardsigmoid(x), elementwise.

>>> lucid.hardswish(lucid.tensor([-4.0, 1.0, 4.0]))
tensor([-0.0000,  0.6667,  4.0000]))",
                     .names = {.in_place = true, .takes_inplace = true},
                     .gradient = by_slope([](Emitter& e, const Call&, const Value& x) {
                       const Value middle = e.add(e.div(x, 3), 0.5);
                       return e.where(e.le(x, -3), 0, e.where(e.lt(x, 3), middle, 1.0));
                     })},
                    [](Emitter& e, const Call&, const Value& x) { return e.mul(x, e.hardsigmoid(x)); });
}

Op prelu() {
  // Slopes that broadcast with x: one for each channel (dimension 1), or one for all.
  const auto slopes = [](Emitter& e, const Value& x, const Value& weight) {
    if (numel(weight.shape()) == 1) return e.reshape(weight, Dims{});
    Dims shape(static_cast<size_t>(x.rank() - 1), 1);
    shape[0] = weight.size(0);
    return e.reshape(weight, shape);
  };
  return {
      .signature = "prelu(x, weight)",
      .doc = R"(Returns `x` where x > 0 and x * weight elsewhere, elementwise. `weight` is a floating-point tensor with
one element, or with one element for each channel (dimension 1) of `x`. The result has the dtype of `x`.

>>> lucid.prelu(lucid.tensor([-1.0, 2.0]), lucid.tensor([0.25]))
tensor([-0.2500,  2.0000]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> std::vector<TensorType> {
        const Dims& weight = call.shape(1);
        const bool is_one = numel(weight) == 1;
        const bool is_each = call.rank(0) >= 2 && weight == Dims{call.shape(0)[1]};
        if (!call.operand(1).is_value() || !is_float(call.dtype(1)))
          throw TypeError("prelu: weight must be a floating-point tensor, got {}", to_string(call.operand(1).type()));
        if (!is_one && !is_each)
          throw ValueError("prelu: weight must have one element, or one for each channel (dimension 1) of {}, got {}",
                           to_string(call.operand(0).type()), to_string(call.operand(1).type()));
        return {call.operand(0).type()};
      },
      .decompose = [slopes](Emitter& e, const Call&, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        return {e.cast(e.where(e.gt(x, 0), x, e.mul(x, slopes(e, x, in[1]))), x.dtype())};
      },
      .gradient = {.rule = [slopes](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value& x = call.in(0);
                     Values results(2);
                     if (call.needs(0)) results[0] = e.where(e.gt(x, 0), g[0], e.mul(g[0], slopes(e, x, call.in(1))));
                     if (call.needs(1)) {
                       Value sums = e.mul(g[0], e.minimum(x, 0));
                       // Sum over positions before the batch: the first sum then reads contiguous elements.
                       if (numel(call.shape(1)) == 1) {
                         sums = e.sum(sums);
                       } else {
                         sums = e.sum(e.reshape(sums, Dims{x.size(0), x.size(1), -1}), Dims{2});
                         sums = e.sum(sums, Dims{0});
                       }
                       results[1] = e.reshape(sums, call.shape(1));
                     }
                     return results;
                   },
                   .saved_inputs = {0, 1}},
      .samples = {{{normal({37}), normal({1})}},
                  {{normal({2, 3, 5}), normal({3})}},
                  {{strided({4, 3}, {1, 4}), normal({3})}},
                  {{normal({}), normal({})}}},
  };
}

Op rrelu() {
  return activation(
      {.signature = "rrelu(x, lower: float = 0.125, upper: float = 0.3333333333333333)",
       .doc = R"(Computes the randomized leaky ReLU in evaluation mode, elementwise: `x` where x >= 0 and x * (lower +
upper) / 2 elsewhere. random_rrelu samples the slopes for training.

>>> lucid.rrelu(lucid.tensor([-1.0, 2.0]), 0.25, 0.75)
tensor([-0.5000,  2.0000]))",
       .samples = with({{{normal({19})}}}, {{"lower", 0.5}, {"upper", 1.0}})},
      [](Emitter& e, const Call& call, const Value& x) {
        return e.leaky_relu(x, (call.real("lower") + call.real("upper")) / 2);
      });
}

Op glu() {
  return {
      .signature = "glu(x, dim: axis = -1)",
      .doc = R"(Computes the gated linear unit a * sigmoid(b), where a and b are the first and the second half of `x`
along `dim`. Raises ValueError if the size of `dim` is odd.

>>> lucid.glu(lucid.tensor([2.0, 0.0]))
tensor([1.]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> std::vector<TensorType> {
        const auto axis = static_cast<size_t>(call.axis("dim"));
        Dims shape = call.shape(0);
        if (shape.empty() || shape[axis] % 2 != 0)
          throw ValueError("glu: the size of dimension {} of {} must be even", axis, to_string(call.operand(0).type()));
        shape[axis] /= 2;
        return {{call.dtype(0), shape}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const int64_t axis = call.axis("dim");
        const SymInt half = in[0].size(axis) / 2;
        return {e.mul(e.narrow(in[0], axis, 0, half), e.sigmoid(e.narrow(in[0], axis, half, half)))};
      },
      .samples = std::vector<Sample>{{{normal({38})}}, {{normal({3, 4})}}} +
                 with({{{normal({4, 3})}}, {{strided({4, 6}, {1, 4})}}}, {{"dim", int64_t{0}}}),
  };
}

}  // namespace

void add_activation_ops(std::vector<Op>& ops) {
  for (auto make : {relu, relu6, threshold, hardtanh, leaky_relu, elu, celu, selu, softplus, logsigmoid, softsign,
                    hardshrink, softshrink, hardsigmoid, hardswish, prelu, rrelu, glu})
    ops.push_back(make());
}

}  // namespace lucid
