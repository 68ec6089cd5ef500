// Softmax and related ops. They subtract the maximum before the exponential, so that it cannot overflow.

#include <limits>

#include "ops/rules.h"

namespace lucid {
namespace {

/// The input converted to attribute "dtype", if given.
Value requested(Emitter& e, const Call& call, const Value& x) {
  return call.is_none("dtype") ? x : e.cast(x, call.dtype_of("dtype"));
}

std::vector<TensorType> infer_softmax(const Call& call) {
  call.axis("dim");
  const Dtype dtype = call.is_none("dtype") ? call.dtype(0) : call.dtype_of("dtype");
  if (!is_float(dtype))
    throw TypeError("{}: x and dtype must be floating-point, got x {}; convert it, or pass dtype=lucid.float32",
                    call.name(), to_string(call.operand(0).type()));
  return {{dtype, call.shape(0)}};
}

std::vector<Sample> softmax_samples() {
  const auto dim = [](int64_t axis) { return std::pair<std::string, Attribute>("dim", axis); };
  return with({{{normal({37})}}}, {dim(0)}) + with({{{normal({3, 19})}}}, {dim(-1)}) +
         with({{{normal({19, 3})}}}, {dim(0)}) + with({{{strided({4, 3}, {1, 4})}}}, {dim(1)}) +
         with({{{normal({0, 3})}}}, {dim(1)}) + with({{{normal({})}}}, {dim(0)}) +
         with({{{normal({2, 5})}}}, {dim(1), {"dtype", Dtype::kF64}});
}

Op softmax() {
  return {
      .signature = "softmax(x, dim: axis = -1, *, dtype: dtype? = None)",
      .doc = R"(Computes exp(x) / sum(exp(x)) along `dim`, without overflow. `dtype`, if given, is the floating-point
dtype that `x` is converted to first.

>>> lucid.softmax(lucid.tensor([0.0, 0.0, 0.0, 0.0]), 0)
tensor([0.2500, 0.2500, 0.2500, 0.2500]))",
      .names = {.in_place = true},
      .dtypes = kFloats,
      .infer = infer_softmax,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value x = requested(e, call, in[0]);
        const Dims axis{call.axis("dim")};
        if (numel(x.shape()) == 0) return {e.exp(x)};
        const Value weight = e.exp(e.sub(x, e.amax(x, axis, true)));
        // One division for each row. One for each element would take as long as everything else.
        return {e.mul(weight, e.reciprocal(e.sum(weight, axis, true)))};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value weighed = e.mul(g[0], call.out());
                     return {e.sub(weighed, e.mul(call.out(), e.sum(weighed, Dims{call.axis("dim")}, true)))};
                   },
                   .saves_outputs = true},
      .samples = softmax_samples(),
  };
}

Op softmin() {
  return {
      .signature = "softmin(x, dim: axis = -1, *, dtype: dtype? = None)",
      .doc = R"(Computes softmax(-x) along `dim`, so that the smallest element has the largest weight. `dtype`, if
given, is the floating-point dtype that `x` is converted to first.

>>> lucid.softmin(lucid.tensor([0.0, 0.0, 0.0, 0.0]), 0)
tensor([0.2500, 0.2500, 0.2500, 0.2500]))",
      .dtypes = kFloats,
      .infer = infer_softmax,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        return {e.softmax(e.neg(requested(e, call, in[0])), call.integer("dim"))};
      },
      .samples = softmax_samples(),
  };
}

Op log_softmax() {
  return {
      .signature = "log_softmax(x, dim: axis = -1, *, dtype: dtype? = None)",
      .doc = R"(Computes log(softmax(x)) along `dim`, without underflow. `dtype`, if given, is the floating-point dtype
that `x` is converted to first.

>>> lucid.log_softmax(lucid.tensor([0.0, 0.0]), 0)
tensor([-0.6931, -0.6931]))",
      .dtypes = kFloats,
      .infer = infer_softmax,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value x = requested(e, call, in[0]);
        const Dims axis{call.axis("dim")};
        if (numel(x.shape()) == 0) return {e.exp(x)};
        const Value shifted = e.sub(x, e.amax(x, axis, true));
        return {e.sub(shifted, e.log(e.sum(e.exp(shifted), axis, true)))};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     return {e.sub(g[0], e.mul(e.exp(call.out()), e.sum(g[0], Dims{call.axis("dim")}, true)))};
                   },
                   .saves_outputs = true},
      .samples = softmax_samples(),
  };
}

Op logsumexp() {
  return {
      .signature = "logsumexp(x, dim: axes? = None, keepdim: bool = False)",
      .doc = R"(Computes log(sum(exp(x))) over the dimensions `dim`, or over all dimensions by default, without
overflow. `keepdim` keeps the reduced dimensions with size 1.

>>> lucid.logsumexp(lucid.tensor([0.0, 0.0]), 0)
tensor(0.6931))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const Dims axes = reduced_axes(call, call.rank(0));
        const bool keepdim = call.flag("keepdim");
        if (reduced_count(call) == 0) return {e.log(e.sum(e.exp(x), axes, keepdim))};
        // Subtracting an infinite maximum would produce NaN.
        const auto finite = [&](const Value& largest) { return e.where(e.isinf(largest), 0, largest); };
        const Value weight = e.exp(e.sub(x, finite(e.amax(x, axes, true))));
        return {e.add(e.log(e.sum(weight, axes, keepdim)), finite(e.amax(x, axes, keepdim)))};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     return {e.mul(restored(e, call, g[0]), e.exp(e.sub(call.in(0), restored(e, call, call.out()))))};
                   },
                   .saved_inputs = {0},
                   .saves_outputs = true},
      .samples =
          std::vector<Sample>{{{normal({37})}}, {{normal({})}}} + with({{{normal({5, 37})}}}, {{"dim", Dims{1}}}) +
          with({{{normal({37, 5})}}}, {{"dim", Dims{0}}, {"keepdim", true}}) +
          with({{{strided({4, 3}, {1, 4})}}}, {{"dim", Dims{0, 1}}}) + with({{{normal({2, 0})}}}, {{"dim", Dims{1}}}),
  };
}

}  // namespace

void add_softmax_ops(std::vector<Op>& ops) {
  for (auto make : {softmax, softmin, log_softmax, logsumexp}) ops.push_back(make());
}

}  // namespace lucid
