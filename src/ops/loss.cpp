// Elementwise losses of a prediction and a target.

#include <cmath>
#include <numbers>

#include "ops/bound_rules.h"
#include "ops/loss_rules.h"
#include "ops/reference.h"

namespace lucid {
namespace {

/// An elementwise function of a prediction and its target.
using Part = Value (*)(Emitter& e, const Call& call, const Value& x, const Value& target);

/// Completes an op from the loss of each element and its derivatives with respect to the prediction and to the target.
/// Without `target_slope`, the derivative with respect to the target is the negative of `slope`.
Op pointwise_loss(Op op, Part loss, Part slope, Part target_slope = nullptr) {
  op.dtypes = kFloats;
  op.decompose = [loss](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    return {reduced_losses(e, call, loss(e, call, in[0], in[1]))};
  };
  op.gradient = {
      .rule = [slope, target_slope](Emitter& e, const GradientCall& call, std::span<const Value> grads) -> Values {
        const Value& x = call.in(0);
        const Value& target = call.in(1);
        const SymInt count = numel(broadcast(call.name(), x.shape(), target.shape()));
        const Value g = spread_gradient(e, call, grads[0], count);
        Values results(2);
        if (call.needs(0) || !target_slope) results[0] = e.mul(slope(e, call, x, target), g);
        if (call.needs(1)) {
          results[1] = target_slope ? e.mul(target_slope(e, call, x, target), g) : e.neg(results[0]);
        }
        return results;
      },
      .saved_inputs = {0, 1}};
  op.warns_of_broadcast = true;
  op.samples =
      with_reductions({{{normal({3, 19}), normal({3, 19})}}}) + op.samples +
      std::vector<Sample>{
          {{normal({}), normal({})}}, {{strided({4, 3}, {1, 4}), normal({4, 3})}}, {{normal({4, 1}), normal({4, 3})}}};
  return op;
}

Op mse_loss() {
  return pointwise_loss(
      {.signature = "mse_loss(x, target, *, reduction: str = 'mean')",
       .doc = R"(Computes the squared error (x - target) ** 2. `x` and `target` broadcast. `reduction` is 'mean', 'sum'
or 'none', which returns the loss of each element.

>>> lucid.mse_loss(lucid.tensor([1., 2.]), lucid.tensor([1., 4.]))
tensor(2.))"},
      [](Emitter& e, const Call&, const Value& x, const Value& target) {
        const Value difference = e.sub(x, target);
        return e.mul(difference, difference);
      },
      [](Emitter& e, const Call&, const Value& x, const Value& target) { return e.mul(e.sub(x, target), 2); });
}

Op l1_loss() {
  return pointwise_loss(
      {.signature = "l1_loss(x, target, *, reduction: str = 'mean')",
       .doc = R"(Computes the absolute error |x - target|. `x` and `target` broadcast. `reduction` is 'mean', 'sum' or
'none', which returns the loss of each element.

>>> lucid.l1_loss(lucid.tensor([1., 2.]), lucid.tensor([1., 4.]))
tensor(1.))"},
      [](Emitter& e, const Call&, const Value& x, const Value& target) { return e.abs(e.sub(x, target)); },
      [](Emitter& e, const Call&, const Value& x, const Value& target) { return e.sign(e.sub(x, target)); });
}

Op smooth_l1_loss() {
  Op op = pointwise_loss(
      {.signature = "smooth_l1_loss(x, target, *, reduction: str = 'mean', beta: float = 1.0)",
       .doc = R"(Computes d ** 2 / (2 * beta) where d = |x - target| is below `beta`, and d - beta / 2 elsewhere. `x`
and `target` broadcast, and `beta` must not be negative; with beta = 0 this is `l1_loss`. `reduction` is 'mean',
'sum' or 'none', which returns the loss of each element.

>>> lucid.smooth_l1_loss(lucid.tensor([1., 2.]), lucid.tensor([1., 4.]), reduction="none")
tensor([0.0000, 1.5000]))",
       .samples = with({{{normal({19}), normal({19})}}}, {{"beta", 0.25}}) +
                  with({{{normal({19}), normal({19})}}}, {{"beta", 0.0}})},
      [](Emitter& e, const Call& call, const Value& x, const Value& target) {
        const double beta = call.real("beta");
        Value d = e.abs(e.sub(x, target));
        if (beta == 0) return d;
        return e.where(e.lt(d, beta), e.mul(e.mul(d, d), 0.5 / beta), e.sub(d, 0.5 * beta));
      },
      [](Emitter& e, const Call& call, const Value& x, const Value& target) {
        const double beta = call.real("beta");
        const Value difference = e.sub(x, target);
        if (beta == 0) return e.sign(difference);
        return e.clamp(e.div(difference, beta), -1, 1);
      });
  op.infer = [](const Call& call) -> std::vector<TensorType> {
    if (!(call.real("beta") >= 0))
      throw ValueError("smooth_l1_loss: beta must not be negative, got {}", call.real("beta"));
    const Dims shape = broadcast(call.name(), call.shape(0), call.shape(1));
    return {{call.dtype(0), reduction_of(call) == Reduction::kNone ? shape : Dims{}}};
  };
  return op;
}

Op huber_loss() {
  Op op = pointwise_loss(
      {.signature = "huber_loss(x, target, *, reduction: str = 'mean', delta: float = 1.0)",
       .doc = R"(Computes d ** 2 / 2 where d = |x - target| is below `delta`, and delta * (d - delta / 2) elsewhere.
`x` and `target` broadcast, and `delta` must be positive. `reduction` is 'mean', 'sum' or 'none', which returns the
loss of each element.

>>> lucid.huber_loss(lucid.tensor([1., 2.]), lucid.tensor([1., 4.]), reduction="none")
tensor([0.0000, 1.5000]))",
       .samples = with({{{normal({19}), normal({19})}}}, {{"delta", 0.25}})},
      [](Emitter& e, const Call& call, const Value& x, const Value& target) {
        const double delta = call.real("delta");
        const Value d = e.abs(e.sub(x, target));
        return e.where(e.lt(d, delta), e.mul(e.mul(d, d), 0.5), e.mul(e.sub(d, 0.5 * delta), delta));
      },
      [](Emitter& e, const Call& call, const Value& x, const Value& target) {
        const double delta = call.real("delta");
        return e.clamp(e.sub(x, target), -delta, delta);
      });
  op.infer = [](const Call& call) -> std::vector<TensorType> {
    if (!(call.real("delta") > 0)) throw ValueError("huber_loss: delta must be positive, got {}", call.real("delta"));
    const Dims shape = broadcast(call.name(), call.shape(0), call.shape(1));
    return {{call.dtype(0), reduction_of(call) == Reduction::kNone ? shape : Dims{}}};
  };
  return op;
}

/// log(1 + exp(x)) without overflow. Unlike softplus, it has no threshold above which it returns x.
Value log_one_plus_exp(Emitter& e, const Value& x) { return e.neg(e.logsigmoid(e.neg(x))); }

Op soft_margin_loss() {
  return pointwise_loss(
      {.signature = "soft_margin_loss(x, target, *, reduction: str = 'mean')",
       .doc = R"(Computes log(1 + exp(-target * x)) without overflow, for targets 1 and -1. `x` and `target` broadcast.
`reduction` is 'mean', 'sum' or 'none', which returns the loss of each element.

>>> lucid.soft_margin_loss(lucid.tensor([0., 1.]), lucid.tensor([1., -1.]), reduction="none")
tensor([0.6931, 1.3133]))"},
      [](Emitter& e, const Call&, const Value& x, const Value& target) {
        return log_one_plus_exp(e, e.neg(e.mul(x, target)));
      },
      [](Emitter& e, const Call&, const Value& x, const Value& target) {
        return e.neg(e.mul(target, e.sigmoid(e.neg(e.mul(x, target)))));
      },
      [](Emitter& e, const Call&, const Value& x, const Value& target) {
        return e.neg(e.mul(x, e.sigmoid(e.neg(e.mul(x, target)))));
      });
}

/// x times the weight, if there is one.
Value weighted(Emitter& e, const Value& x, const Value& weight) { return weight ? e.mul(x, weight) : x; }
Value saved_or_none(const GradientCall& call, size_t i) { return call.has(i) ? call.in(i) : Value(); }

int64_t broadcast_count(const Call& call) {
  Dims shape;
  for (const Operand& operand : call.operands())
    if (operand.present()) shape = broadcast(call.name(), shape, operand.shape());
  return numel(shape);
}

SampleTensor probabilities(Dims shape) { return {.shape = std::move(shape), .fill = Fill::kProbability}; }

constexpr const char* kNoProbability = "all elements must be between 0 and 1";

Op checked_probability() {
  return {
      .signature = "checked_probability(x)",
      .doc = R"(Returns `x` unchanged. Raises ValueError unless all elements are between 0 and 1.

>>> lucid.checked_probability(lucid.tensor([0.5, 1.0]))
tensor([0.5000, 1.0000]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .promote = Promote::kSame,
      .lowering = PointwiseLowering{.body = lower_unary([](loop::Value x) { return x; }).body,
                                    .fails =
                                        [](loop::Builder& b, std::span<const loop::Value> in, const Call&) {
                                          return ~((in[0] >= b.like(in[0], 0)) & (in[0] <= b.like(in[0], 1)));
                                        }},
      .reference = reference_unary<Domain::kFloats>([](auto x) {
        if (!(x >= 0 && x <= 1)) throw ValueError("checked_probability: {}", kNoProbability);
        return x;
      }),
      .gradient = {.rule = [](Emitter&, const GradientCall&, std::span<const Value> g) -> Values { return {g[0]}; }},
      .errors = {kNoProbability},
      .error_class = ErrorClass::kValue,
      .bounds = [](const Call&) -> std::vector<ValueBounds> { return {bounds_of_probability(0, "x")}; },
      .samples = {{{probabilities({3, 19})}}, {{probabilities({})}}, {{probabilities({0})}}},
  };
}

Op binary_cross_entropy() {
  constexpr double kMinLog = -100;
  const auto losses = [](Emitter& e, const Value& x, const Value& target) {
    const Value hit = e.clamp(e.log(x), kMinLog);
    const Value miss = e.clamp(e.log1p(e.neg(x)), kMinLog);
    return e.sub(e.mul(e.sub(target, 1), miss), e.mul(target, hit));
  };
  return {
      .signature = "binary_cross_entropy(x, target, weight? = None, *, reduction: str = 'mean')",
      .doc =
          R"(Computes -(target * log(x) + (1 - target) * log(1 - x)) times `weight`, which broadcasts, for
probabilities `x`. Logarithms below -100 are replaced by -100, so the loss is finite. `x` and `target` must have the
same shape. Raises ValueError unless their elements are between 0 and 1. `reduction` is 'mean', 'sum' or 'none', which
returns the loss of each element.

>>> lucid.binary_cross_entropy(lucid.tensor([0.5, 1.0]), lucid.tensor([1., 0.]), reduction="none")
tensor([  0.6931, 100.0000]))",
      .dtypes = kFloats,
      .decompose = [losses](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (in[0].shape() != in[1].shape())
          throw ValueError("binary_cross_entropy: x {} and target {} must have the same shape", to_string(in[0].type()),
                           to_string(in[1].type()));
        const Value x = e.checked_probability(in[0]);
        const Value target = e.checked_probability(in[1]);
        return {reduced_losses(e, call, weighted(e, losses(e, x, target), in[2]))};
      },
      .gradient = {.rule = [losses](Emitter& e, const GradientCall& call, std::span<const Value> grads) -> Values {
                     const Value& x = call.in(0);
                     const Value& target = call.in(1);
                     const Value weight = saved_or_none(call, 2);
                     const Value g = spread_gradient(e, call, grads[0], broadcast_count(call));
                     Values results(3);
                     if (call.needs(0)) {
                       const Value width = e.clamp(e.mul(e.sub(1, x), x), 1e-12);
                       results[0] = e.mul(weighted(e, e.div(e.sub(x, target), width), weight), g);
                     }
                     if (call.needs(1)) {
                       const Value odds = e.sub(e.clamp(e.log1p(e.neg(x)), kMinLog), e.clamp(e.log(x), kMinLog));
                       results[1] = e.mul(weighted(e, odds, weight), g);
                     }
                     if (weight && call.needs(2)) results[2] = e.mul(losses(e, x, target), g);
                     return results;
                   },
                   .saved_inputs = {0, 1, 2}},
      .bounds = [](const Call&) -> std::vector<ValueBounds> {
        return {bounds_of_probability(0, "x"), bounds_of_probability(1, "target")};
      },
      .samples = with_reductions({{{probabilities({3, 19}), probabilities({3, 19}), absent()}},
                                  {{probabilities({3, 19}), probabilities({3, 19}), normal({19})}}}),
  };
}

Op binary_cross_entropy_with_logits() {
  // The factor of the loss of positive targets: 1 + (pos_weight - 1) * target.
  const auto factor = [](Emitter& e, const Value& target, const Value& positive) {
    return e.add(e.mul(e.sub(positive, 1), target), 1);
  };
  const auto losses = [factor](Emitter& e, const Value& x, const Value& target, const Value& positive) {
    const Value miss = log_one_plus_exp(e, e.neg(x));
    return e.add(e.mul(e.sub(1, target), x), positive ? e.mul(miss, factor(e, target, positive)) : miss);
  };
  return {
      .signature =
          "binary_cross_entropy_with_logits(x, target, weight? = None, pos_weight? = None, *, reduction: str = "
          "'mean')",
      .doc =
          R"(Computes `binary_cross_entropy` of sigmoid(x), without overflow. `weight` multiplies all losses, and
`pos_weight` the part of positive targets, -target * log(sigmoid(x)); both broadcast. `x` and `target` must have the
same shape. `reduction` is 'mean', 'sum' or 'none', which returns the loss of each element.

>>> lucid.binary_cross_entropy_with_logits(lucid.tensor([0., 2.]), lucid.tensor([1., 0.]), reduction="none")
tensor([0.6931, 2.1269]))",
      .dtypes = kFloats,
      .decompose = [losses](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (in[0].shape() != in[1].shape())
          throw ValueError("binary_cross_entropy_with_logits: x {} and target {} must have the same shape",
                           to_string(in[0].type()), to_string(in[1].type()));
        return {reduced_losses(e, call, weighted(e, losses(e, in[0], in[1], in[3]), in[2]))};
      },
      .gradient = {.rule = [losses, factor](Emitter& e, const GradientCall& call,
                                            std::span<const Value> grads) -> Values {
                     const Value& x = call.in(0);
                     const Value& target = call.in(1);
                     const Value weight = saved_or_none(call, 2);
                     const Value positive = saved_or_none(call, 3);
                     const Value g = spread_gradient(e, call, grads[0], broadcast_count(call));
                     const auto finish = [&](const Value& slope) { return e.mul(weighted(e, slope, weight), g); };
                     Values results(4);
                     if (call.needs(0)) {
                       const Value slope =
                           positive ? e.sub(e.sub(1, target), e.mul(e.sigmoid(e.neg(x)), factor(e, target, positive)))
                                    : e.sub(e.sigmoid(x), target);
                       results[0] = finish(slope);
                     }
                     if (call.needs(1)) {
                       Value slope = e.neg(x);
                       if (positive) slope = e.add(slope, e.mul(log_one_plus_exp(e, e.neg(x)), e.sub(positive, 1)));
                       results[1] = finish(slope);
                     }
                     if (weight && call.needs(2)) results[2] = e.mul(losses(e, x, target, positive), g);
                     if (positive && call.needs(3)) results[3] = finish(e.mul(target, log_one_plus_exp(e, e.neg(x))));
                     return results;
                   },
                   .saved_inputs = {0, 1, 2, 3}},
      .samples = with_reductions({{{normal({3, 19}), probabilities({3, 19}), absent(), absent()}},
                                  {{normal({3, 19}), probabilities({3, 19}), normal({19}), positive({19})}}}),
  };
}

/// t * log(t), with the value 0 at 0.
Value t_log_t(Emitter& e, const Value& t) {
  const Value is_zero = e.eq(t, 0);
  return e.where(is_zero, 0, e.mul(t, e.log(e.where(is_zero, 1, t))));
}

Op kl_div() {
  return {
      .signature = "kl_div(x, target, *, reduction: str = 'mean', log_target: bool = False)",
      .doc =
          R"(Computes target * (log(target) - x), where `x` holds logarithms of probabilities. With `log_target`,
`target` holds logarithms too, and the loss is exp(target) * (target - x). `reduction` is 'mean', 'sum', 'none',
which returns the loss of each element, or 'batchmean', which divides the sum by the size of dimension 0 and so
returns the Kullback-Leibler divergence.

>>> lucid.kl_div(lucid.tensor([0.25, 0.75]).log(), lucid.tensor([0.5, 0.5]), reduction="sum")
tensor(0.1438))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const Value& target = in[1];
        const Value losses = call.flag("log_target") ? e.mul(e.exp(target), e.sub(target, x))
                                                     : e.sub(t_log_t(e, target), e.mul(target, x));
        if (reduction_of(call, true) != Reduction::kBatchMean) return {reduced_losses(e, call, losses)};
        return {e.div(e.sum(losses), losses.rank() > 0 ? losses.size(0) : SymInt(1))};
      },
      .samples = with_reductions({{{normal({3, 19}), probabilities({3, 19})}}}) +
                 with({{{normal({3, 19}), normal({3, 19})}}},
                      {{"log_target", true}, {"reduction", std::string("batchmean")}}) +
                 with({{{normal({3, 19}), probabilities({3, 19})}}}, {{"reduction", std::string("batchmean")}}),
  };
}

Op poisson_nll_loss() {
  return {
      .signature =
          "poisson_nll_loss(x, target, log_input: bool = True, full: bool = False, *, eps: float = 1e-08, "
          "reduction: str = 'mean')",
      .doc =
          R"(Computes the negative log likelihood of counts `target` under a Poisson distribution:
exp(x) - target * x, where `x` is the logarithm of the rate, or, without `log_input`, x - target * log(x + eps),
where `x` is the rate. With `full`, Stirling's approximation of log(target!) is added for targets above 1.
`reduction` is 'mean', 'sum' or 'none', which returns the loss of each element.

>>> lucid.poisson_nll_loss(lucid.tensor([0., 1.]), lucid.tensor([2., 1.]), reduction="none")
tensor([1.0000, 1.7183]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const Value& target = in[1];
        Value losses = call.flag("log_input") ? e.sub(e.exp(x), e.mul(target, x))
                                              : e.sub(x, e.mul(target, e.log(e.add(x, call.real("eps")))));
        if (call.flag("full")) {
          const Value above_one = e.gt(target, 1);
          const Value safe = e.where(above_one, target, 1);
          const Value stirling =
              e.add(e.sub(e.mul(safe, e.log(safe)), safe), e.mul(e.log(e.mul(safe, 2 * std::numbers::pi)), 0.5));
          losses = e.add(losses, e.where(above_one, stirling, 0));
        }
        return {reduced_losses(e, call, losses)};
      },
      .samples = with_reductions({{{normal({3, 19}), positive({3, 19})}}}) +
                 with({{{positive({19}), positive({19})}}}, {{"log_input", false}}) +
                 with({{{normal({19}), {.shape = {19}, .fill = Fill::kLarge}}}}, {{"full", true}}),
  };
}

Op gaussian_nll_loss() {
  return {
      .signature =
          "gaussian_nll_loss(x, target, var, full: bool = False, eps: float = 1e-06, *, reduction: str = 'mean')",
      .doc =
          R"(Computes the negative log likelihood of `target` under a normal distribution of mean `x` and variance
`var`: (log(v) + (x - target) ** 2 / v) / 2, where v is `var`, but at least `eps`. With `full`, the constant
log(2 * pi) / 2 is added. `reduction` is 'mean', 'sum' or 'none', which returns the loss of each element.

>>> lucid.gaussian_nll_loss(lucid.tensor([1.]), lucid.tensor([3.]), lucid.tensor([2.]))
tensor(1.3466))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value v = e.clamp(in[2], call.real("eps"));
        const Value difference = e.sub(in[0], in[1]);
        Value losses = e.mul(e.add(e.log(v), e.div(e.mul(difference, difference), v)), 0.5);
        if (call.flag("full")) losses = e.add(losses, 0.5 * std::log(2 * std::numbers::pi));
        return {reduced_losses(e, call, losses)};
      },
      .samples = with_reductions({{{normal({3, 19}), normal({3, 19}), positive({3, 19})}}}) +
                 with({{{normal({3, 19}), normal({3, 19}), positive({3, 1})}}}, {{"full", true}}),
  };
}

}  // namespace

void add_loss_ops(std::vector<Op>& ops) {
  for (auto make :
       {mse_loss, l1_loss, smooth_l1_loss, huber_loss, soft_margin_loss, checked_probability, binary_cross_entropy,
        binary_cross_entropy_with_logits, kl_div, poisson_nll_loss, gaussian_nll_loss})
    ops.push_back(make());
}

}  // namespace lucid
