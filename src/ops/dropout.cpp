// Random ops for training: dropout, rrelu and gumbel_softmax. Like every random op they take a generator state as
// operand 0. The random number of an element depends only on the state and on the element's row-major index, so
// gradients store no mask: they sample it again from the saved state.

#include <cmath>

#include "ops/philox.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

void check_probability(const Call& call, const char* name = "p") {
  if (const double p = call.real(name); !(p >= 0 && p <= 1))
    throw ValueError("{}: {} must be a probability from 0 to 1, got {}", call.name(), name, p);
}

Types infer_dropout(const Call& call) {
  philox::check_state(call);
  check_probability(call);
  if (!call.operand(1).is_value() || !is_float(call.dtype(1)))
    throw TypeError("{}: x must be a floating-point tensor, got {}", call.name(), to_string(call.operand(1).type()));
  return {call.operand(1).type()};
}

/// Whole channels are kept or dropped: the mask has the shape of the first two dimensions.
Types infer_feature_dropout(const Call& call) {
  Types types = infer_dropout(call);
  if (call.rank(1) < 2)
    throw ValueError("{}: x must have at least two dimensions, batch and channels, got {}", call.name(),
                     to_string(call.operand(1).type()));
  return types;
}

/// The mask of the elements to keep.
Value keep_mask(Emitter& e, const Call& call, const Value& state, const Dims& size) {
  return e.ge(e.random_uniform(state, size, Dtype::kF32), call.real("p"));
}

Dims feature_shape(const Dims& shape) {
  Dims size(shape.size(), 1);
  size[0] = shape[0];
  size[1] = shape[1];
  return size;
}

double scale_of(const Call& call) { return 1 / (1 - call.real("p")); }

std::vector<Sample> dropout_samples(bool features) {
  const SampleTensor state = offsets({2}, 1 << 20);
  std::vector<Sample> samples;
  if (features)
    samples = {{{state, {.shape = {3, 5, 4}, .dtype = Dtype::kF32}}},
               {{state, {.shape = {2, 3, 2, 2}, .dtype = Dtype::kF64}}}};
  else
    samples = {{{state, {.shape = {37}, .dtype = Dtype::kF64}}},
               {{state, {.shape = {3, 19}, .dtype = Dtype::kF32}}},
               {{state, {.shape = {4, 3}, .strides = {1, 4}, .dtype = Dtype::kF16}}},
               {{state, {.shape = {}, .dtype = Dtype::kF64}}},
               {{state, {.shape = {0, 3}, .dtype = Dtype::kF32}}}};
  return samples + with(samples, {{"p", 0.125}}) + with({samples.front()}, {{"p", 1.0}}) +
         with({samples.front()}, {{"p", 0.0}});
}

/// Dropout and feature dropout: 0, or x divided by the probability of being kept.
Op scaled_dropout(Op op, bool features) {
  op.dtypes = Dtype::kI64;
  op.infer = features ? infer_feature_dropout : infer_dropout;
  op.decompose = [features](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    const Value& x = in[1];
    const Value keep = keep_mask(e, call, in[0], features ? feature_shape(x.shape()) : x.shape());
    return {e.where(keep, e.mul(x, scale_of(call)), 0)};
  };
  op.gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                   // Dropout is linear in x: its gradient is the same op.
                   const Value state = call.in(0);
                   const Operand operands[] = {state, g[0]};
                   return {Value(), e.emit_one(call.op(), operands, call.attributes())};
                 },
                 .saved_inputs = {0}};
  op.samples = dropout_samples(features);
  return op;
}

Op random_dropout() {
  return scaled_dropout(
      {.signature = "random_dropout(state, x, p: float = 0.5)",
       .doc =
           R"(Returns x / (1 - p), with elements set to 0 with probability `p`: those whose f32 number of
random_uniform(state) is below `p`. `x` must be a floating-point tensor.

>>> lucid.random_dropout(lucid.tensor([1, 0]), lucid.ones(4), 1.0)
tensor([0., 0., 0., 0.]))"},
      false);
}

Op random_feature_dropout() {
  return scaled_dropout(
      {.signature = "random_feature_dropout(state, x, p: float = 0.5)",
       .doc =
           R"(Returns x / (1 - p), with whole channels set to 0 with probability `p`. A channel is one index of the
first two dimensions of `x`, a floating-point tensor.

>>> y = lucid.random_feature_dropout(lucid.tensor([1, 0]), lucid.ones(8, 2, 3))
>>> bool(((y == 0).all(2) | (y == 2).all(2)).all())
True)"},
      true);
}

/// Dropout that preserves the mean 0 and variance 1 of selu's results: dropped elements become selu's negative limit,
/// and the result is scaled and shifted.
Op alpha_dropout(Op op, bool features) {
  constexpr double kLimit = -1.7580993408473766;
  const auto scale = [](const Call& call) {
    const double p = call.real("p");
    return p == 1 ? 0.0 : 1 / std::sqrt((1 - p) * (1 + p * kLimit * kLimit));
  };
  op.dtypes = Dtype::kI64;
  op.infer = features ? infer_feature_dropout : infer_dropout;
  op.decompose = [=](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    const Value& x = in[1];
    const Value keep = keep_mask(e, call, in[0], features ? feature_shape(x.shape()) : x.shape());
    const double a = scale(call);
    const double shift = -a * call.real("p") * kLimit;
    return {e.where(keep, e.add(e.mul(x, a), shift), a * kLimit + shift)};
  };
  op.gradient = {.rule = [=](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                   const Value state = call.in(0);
                   const Dims& shape = call.shape(1);
                   const Value keep = keep_mask(e, call, state, features ? feature_shape(shape) : shape);
                   return {Value(), e.where(keep, e.mul(g[0], scale(call)), 0)};
                 },
                 .saved_inputs = {0}};
  op.samples = dropout_samples(features);
  return op;
}

Op random_alpha_dropout() {
  return alpha_dropout(
      {.signature = "random_alpha_dropout(state, x, p: float = 0.5)",
       .doc =
           R"(Returns `x` with elements replaced by the negative limit of selu with probability `p`, then scaled and
shifted so that a mean of 0 and a variance of 1 are preserved. `x` must be a floating-point tensor.

>>> lucid.random_alpha_dropout(lucid.tensor([1, 0]), lucid.ones(3), 0.0)
tensor([1., 1., 1.]))"},
      false);
}

Op random_feature_alpha_dropout() {
  return alpha_dropout(
      {.signature = "random_feature_alpha_dropout(state, x, p: float = 0.5)",
       .doc =
           R"(Applies random_alpha_dropout to whole channels. A channel is one index of the first two dimensions of
`x`, a floating-point tensor.

>>> lucid.random_feature_alpha_dropout(lucid.tensor([1, 0]), lucid.ones(1, 2, 3), 0.0).shape
(1, 2, 3))"},
      true);
}

void check_slopes(const Call& call) {
  if (!(call.real("lower") <= call.real("upper")))
    throw ValueError("{}: lower {} must not exceed upper {}", call.name(), call.real("lower"), call.real("upper"));
}

Op random_rrelu() {
  const auto slopes = [](Emitter& e, const Call& call, const Value& state, const Dims& size) {
    const Value unit = e.random_uniform(state, size, Dtype::kF32);
    return e.add(e.mul(unit, call.real("upper") - call.real("lower")), call.real("lower"));
  };
  return {
      .signature = "random_rrelu(state, x, lower: float = 0.125, upper: float = 0.3333333333333333)",
      .doc =
          R"(Returns `x` where it is not negative, and elsewhere `x` times a slope sampled from the uniform
distribution on [lower, upper). `x` must be a floating-point tensor.

>>> lucid.random_rrelu(lucid.tensor([1, 0]), lucid.tensor([1., -2.]), 0.5, 0.5)
tensor([ 1., -1.]))",
      .dtypes = Dtype::kI64,
      .infer = [](const Call& call) -> Types {
        philox::check_state(call);
        check_slopes(call);
        if (!call.operand(1).is_value() || !is_float(call.dtype(1)))
          throw TypeError("random_rrelu: x must be a floating-point tensor, got {}", to_string(call.operand(1).type()));
        return {call.operand(1).type()};
      },
      .decompose = [slopes](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[1];
        return {e.where(e.lt(x, 0), e.mul(x, slopes(e, call, in[0], x.shape())), x)};
      },
      .gradient = {.rule = [slopes](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value state = call.in(0);
                     const Value scaled = e.mul(g[0], slopes(e, call, state, call.shape(1)));
                     return {Value(), e.where(e.lt(call.in(1), 0), scaled, g[0])};
                   },
                   .saved_inputs = {0, 1}},
      .samples = {{{offsets({2}, 1 << 20), {.shape = {37}, .dtype = Dtype::kF64}}},
                  {{offsets({2}, 1 << 20), {.shape = {3, 19}, .dtype = Dtype::kF32}}}},
  };
}

Op random_gumbel_softmax() {
  return {
      .signature = "random_gumbel_softmax(state, logits, tau: float = 1.0, hard: bool = False, dim: axis = -1)",
      .doc =
          R"(Computes softmax((logits + noise) / tau) along `dim` with noise from the Gumbel distribution: a
differentiable sample of a class. With `hard`, the result is 1 for the largest element and 0 for the others, with
the gradient of the soft sample. `tau` must be positive.

>>> lucid.random_gumbel_softmax(lucid.tensor([1, 0]), lucid.tensor([0., 100.]), hard=True)
tensor([0., 1.]))",
      .dtypes = Dtype::kI64,
      .infer = [](const Call& call) -> Types {
        philox::check_state(call);
        if (!call.operand(1).is_value() || !is_float(call.dtype(1)))
          throw TypeError("random_gumbel_softmax: logits must be a floating-point tensor, got {}",
                          to_string(call.operand(1).type()));
        if (!(call.real("tau") > 0))
          throw ValueError("random_gumbel_softmax: tau must be positive, got {}", call.real("tau"));
        call.axis("dim", call.rank(1));
        return {call.operand(1).type()};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& logits = in[1];
        const int64_t dim = call.integer("dim");
        // 1 - u is in (0, 1]: its logarithm is negative, or 0 at 1, which the clamp excludes.
        const Value uniform = e.random_uniform(in[0], logits.shape(), compute_dtype(logits.dtype()));
        const Value exponential = e.clamp(e.neg(e.log1p(e.neg(uniform))), 1e-37);
        const Value soft = e.softmax(e.div(e.sub(logits, e.log(exponential)), call.real("tau")), dim);
        if (!call.flag("hard")) return {soft};
        const Value chosen = e.argmax(soft, dim, true);
        return {e.cast(e.eq(e.iota(soft.shape(), dim), chosen), soft.dtype())};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const double tau = call.real("tau");
                     const int64_t dim = call.integer("dim");
                     const Value soft = e.random_gumbel_softmax(call.in(0), call.in(1), tau, false, dim);
                     const Value weighted = e.mul(g[0], soft);
                     const Value sums = e.sum(weighted, Dims{dim}, true);
                     return {Value(), e.div(e.sub(weighted, e.mul(soft, sums)), tau)};
                   },
                   .saved_inputs = {0, 1}},
      .samples = with({{{offsets({2}, 1 << 20), {.shape = {5, 7}, .dtype = Dtype::kF64}}},
                       {{offsets({2}, 1 << 20), {.shape = {19}, .dtype = Dtype::kF32}}}},
                      {{"tau", 0.5}}),
  };
}

}  // namespace

void add_dropout_ops(std::vector<Op>& ops) {
  for (auto make : {random_dropout, random_feature_dropout, random_alpha_dropout, random_feature_alpha_dropout,
                    random_rrelu, random_gumbel_softmax})
    ops.push_back(make());
}

}  // namespace lucid
