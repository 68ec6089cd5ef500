// Draws that leave out, stretch or stir elements while a network learns. Like every draw they take a generator's state
// as operand 0; which elements they pick follows from it and from an element's row-major index alone, so gradients need
// no mask in memory: they draw it again from the state that was saved.

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

/// Whole channels stay or go together: the draw has the first two dimensions' shape.
Types infer_feature_dropout(const Call& call) {
  Types types = infer_dropout(call);
  if (call.rank(1) < 2)
    throw ValueError("{}: x must have a batch and channels, its first two dimensions, got {}", call.name(),
                     to_string(call.operand(1).type()));
  return types;
}

/// Which elements stay.
Value kept(Emitter& e, const Call& call, const Value& state, const Dims& size) {
  return e.ge(e.draw_uniform(state, size, Dtype::kF32), call.real("p"));
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

/// dropout and feature dropout: 0, or x divided by the probability of staying.
Op scaled_dropout(Op op, bool features) {
  op.dtypes = Dtype::kI64;
  op.infer = features ? infer_feature_dropout : infer_dropout;
  op.decompose = [features](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    const Value& x = in[1];
    const Value stays = kept(e, call, in[0], features ? feature_shape(x.shape()) : x.shape());
    return {e.where(stays, e.mul(x, scale_of(call)), 0)};
  };
  op.gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                   // It is linear: the gradient goes the same way.
                   const Value state = call.in(0);
                   const Operand operands[] = {state, g[0]};
                   return {Value(), e.emit_one(call.op(), operands, call.attributes())};
                 },
                 .saved_inputs = {0}};
  op.samples = dropout_samples(features);
  return op;
}

Op draw_dropout() {
  return scaled_dropout({.signature = "draw_dropout(state, x, p: float = 0.5)",
                         .doc = R"(x / (1 - p), but 0 with probability p: where draw_uniform's number of f32 is below p.

>>> lucid.draw_dropout(lucid.tensor([1, 0]), lucid.ones(4), 1.0)
tensor([0., 0., 0., 0.]))"},
                        false);
}

Op draw_feature_dropout() {
  return scaled_dropout(
      {.signature = "draw_feature_dropout(state, x, p: float = 0.5)",
       .doc = R"(x / (1 - p), but whole channels, indices of the first two dimensions, are 0 with probability p.

>>> y = lucid.draw_feature_dropout(lucid.tensor([1, 0]), lucid.ones(8, 2, 3))
>>> bool(((y == 0).all(2) | (y == 2).all(2)).all())
True)"},
      true);
}

/// Dropout that keeps mean 0 and variance 1 after selu: what goes becomes selu's limit, and all is scaled and shifted.
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
    const Value stays = kept(e, call, in[0], features ? feature_shape(x.shape()) : x.shape());
    const double a = scale(call);
    const double shift = -a * call.real("p") * kLimit;
    return {e.where(stays, e.add(e.mul(x, a), shift), a * kLimit + shift)};
  };
  op.gradient = {.rule = [=](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                   const Value state = call.in(0);
                   const Dims& shape = call.shape(1);
                   const Value stays = kept(e, call, state, features ? feature_shape(shape) : shape);
                   return {Value(), e.where(stays, e.mul(g[0], scale(call)), 0)};
                 },
                 .saved_inputs = {0}};
  op.samples = dropout_samples(features);
  return op;
}

Op draw_alpha_dropout() {
  return alpha_dropout(
      {.signature = "draw_alpha_dropout(state, x, p: float = 0.5)",
       .doc =
           R"(x with elements replaced, with probability p, by the limit of selu; then scaled and shifted so that mean 0 and
variance 1 stay.

>>> lucid.draw_alpha_dropout(lucid.tensor([1, 0]), lucid.ones(3), 0.0)
tensor([1., 1., 1.]))"},
      false);
}

Op draw_feature_alpha_dropout() {
  return alpha_dropout({.signature = "draw_feature_alpha_dropout(state, x, p: float = 0.5)",
                        .doc = R"(draw_alpha_dropout of whole channels, indices of the first two dimensions.

>>> lucid.draw_feature_alpha_dropout(lucid.tensor([1, 0]), lucid.ones(1, 2, 3), 0.0).shape
(1, 2, 3))"},
                       true);
}

void check_slopes(const Call& call) {
  if (!(call.real("lower") <= call.real("upper")))
    throw ValueError("{}: lower {} must not be above upper {}", call.name(), call.real("lower"), call.real("upper"));
}

Op draw_rrelu() {
  const auto slopes = [](Emitter& e, const Call& call, const Value& state, const Dims& size) {
    const Value unit = e.draw_uniform(state, size, Dtype::kF32);
    return e.add(e.mul(unit, call.real("upper") - call.real("lower")), call.real("lower"));
  };
  return {
      .signature = "draw_rrelu(state, x, lower: float = 0.125, upper: float = 0.3333333333333333)",
      .doc = R"(x where it is not negative, else x times a slope from the uniform distribution on [lower, upper).

>>> lucid.draw_rrelu(lucid.tensor([1, 0]), lucid.tensor([1., -2.]), 0.5, 0.5)
tensor([ 1., -1.]))",
      .dtypes = Dtype::kI64,
      .infer = [](const Call& call) -> Types {
        philox::check_state(call);
        check_slopes(call);
        if (!call.operand(1).is_value() || !is_float(call.dtype(1)))
          throw TypeError("draw_rrelu: x must be a floating-point tensor, got {}", to_string(call.operand(1).type()));
        return {call.operand(1).type()};
      },
      .decompose = [slopes](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[1];
        return {e.where(e.lt(x, 0), e.mul(x, slopes(e, call, in[0], x.shape())), x)};
      },
      .gradient = {.rule = [slopes](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value state = call.in(0);
                     const Value bent = e.mul(g[0], slopes(e, call, state, call.shape(1)));
                     return {Value(), e.where(e.lt(call.in(1), 0), bent, g[0])};
                   },
                   .saved_inputs = {0, 1}},
      .samples = {{{offsets({2}, 1 << 20), {.shape = {37}, .dtype = Dtype::kF64}}},
                  {{offsets({2}, 1 << 20), {.shape = {3, 19}, .dtype = Dtype::kF32}}}},
  };
}

Op draw_gumbel_softmax() {
  return {
      .signature = "draw_gumbel_softmax(state, logits, tau: float = 1.0, hard: bool = False, dim: int = -1)",
      .doc =
          R"(softmax((logits + noise) / tau) along dim, the noise being Gumbel's: a differentiable draw of a class. hard gives 1 for
the largest and 0 for the others, with the gradient of the soft draw.

>>> lucid.draw_gumbel_softmax(lucid.tensor([1, 0]), lucid.tensor([0., 100.]), hard=True)
tensor([0., 1.]))",
      .dtypes = Dtype::kI64,
      .infer = [](const Call& call) -> Types {
        philox::check_state(call);
        if (!call.operand(1).is_value() || !is_float(call.dtype(1)))
          throw TypeError("draw_gumbel_softmax: logits must be a floating-point tensor, got {}",
                          to_string(call.operand(1).type()));
        if (!(call.real("tau") > 0))
          throw ValueError("draw_gumbel_softmax: tau must be positive, got {}", call.real("tau"));
        normalize_axis(call.name(), call.integer("dim"), call.rank(1));
        return {call.operand(1).type()};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& logits = in[1];
        const int64_t dim = call.integer("dim");
        // 1 - u lies in (0, 1], and its logarithm is below 0 except at 1.
        const Value drawn = e.draw_uniform(in[0], logits.shape(), compute_dtype(logits.dtype()));
        const Value exponential = e.clamp(e.neg(e.log1p(e.neg(drawn))), 1e-37);
        const Value soft = e.softmax(e.div(e.sub(logits, e.log(exponential)), call.real("tau")), dim);
        if (!call.flag("hard")) return {soft};
        const Value chosen = e.argmax(soft, dim, true);
        return {e.cast(e.eq(e.iota(soft.shape(), dim), chosen), soft.dtype())};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const double tau = call.real("tau");
                     const int64_t dim = call.integer("dim");
                     const Value soft = e.draw_gumbel_softmax(call.in(0), call.in(1), tau, false, dim);
                     const Value weighed = e.mul(g[0], soft);
                     const Value sums = e.sum(weighed, Dims{dim}, true);
                     return {Value(), e.div(e.sub(weighed, e.mul(soft, sums)), tau)};
                   },
                   .saved_inputs = {0, 1}},
      .samples = with({{{offsets({2}, 1 << 20), {.shape = {5, 7}, .dtype = Dtype::kF64}}},
                       {{offsets({2}, 1 << 20), {.shape = {19}, .dtype = Dtype::kF32}}}},
                      {{"tau", 0.5}}),
  };
}

}  // namespace

void add_dropout_ops(std::vector<Op>& ops) {
  for (auto make : {draw_dropout, draw_feature_dropout, draw_alpha_dropout, draw_feature_alpha_dropout, draw_rrelu,
                    draw_gumbel_softmax})
    ops.push_back(make());
}

}  // namespace lucid
