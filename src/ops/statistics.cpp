// Reductions composed of other ops: variances, norms, counts.

#include <cmath>
#include <limits>

#include "ops/rules.h"

namespace lucid {
namespace {

Dims axes_of(const Call& call) { return reduced_axes(call, call.rank(0)); }

std::vector<Sample> statistics_samples(Fill fill = Fill::kNormal) {
  return std::vector<Sample>{{{filled({37}, fill)}}, {{filled({2, 3, 4}, fill)}}} +
         with({{{filled({5, 37}, fill)}}}, {{"dim", Dims{1}}}) +
         with({{{filled({37, 5}, fill)}}}, {{"dim", Dims{0}}, {"keepdim", true}}) +
         with({{{strided({4, 3}, {1, 4}, fill)}}}, {{"dim", Dims{0, 1}}}) +
         with({{{filled({0, 3}, fill)}}}, {{"dim", Dims{1}}});
}

/// The divisor of sums of squares. It is at least 0, so that too few elements yield infinity or NaN.
double degrees(const Call& call) {
  return std::max(0.0, static_cast<double>(int64_t{reduced_count(call)}) - call.real("correction"));
}

/// The same, for any number of elements if it is traced.
Scalar traced_degrees(const Call& call) {
  const SymInt count = reduced_count(call);
  const double correction = call.real("correction");
  constexpr double kMaxCorrection = 1 << 20;
  if (!count.is_traced() || std::floor(correction) != correction || std::abs(correction) > kMaxCorrection)
    return degrees(call);
  const SymInt left = count - static_cast<int64_t>(correction);
  return left > 0 ? Scalar(left) : Scalar(0.0);
}

Value variance(Emitter& e, const Call& call, const Value& x, const Value& mean) {
  const Value deviation = e.sub(x, mean);
  return e.div(e.sum(e.mul(deviation, deviation), axes_of(call), call.flag("keepdim")), traced_degrees(call));
}

/// d var / d x, times the gradient of the variance.
Value variance_gradient(Emitter& e, const Call& call, const Value& g, const Value& x) {
  const Value deviation = e.sub(x, e.mean(x, axes_of(call), true));
  return e.mul(e.mul(restored(e, call, g), 2 / degrees(call)), deviation);
}

Op var() {
  return {
      .signature = "var(x, dim: axes? = None, keepdim: bool = False, *, correction: float = 1.0)",
      .doc = R"(Returns the variance of `x` over the dimensions `dim`, or over all dimensions by default: the sum of
squared deviations from the mean, divided by max(0, n - correction) for n elements. The default
`correction` of 1 is Bessel's correction. `keepdim` keeps the reduced dimensions with size 1.

>>> lucid.var(lucid.tensor([1.0, 2.0, 3.0]))
tensor(1.))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        return {variance(e, call, in[0], e.mean(in[0], axes_of(call), true))};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     return {variance_gradient(e, call, g[0], call.in(0))};
                   },
                   .saved_inputs = {0}},
      .samples = statistics_samples() + with({{{normal({5, 37})}}}, {{"dim", Dims{-1}}, {"correction", 0.0}}),
  };
}

Op standard_deviation() {
  return {
      .signature = "std(x, dim: axes? = None, keepdim: bool = False, *, correction: float = 1.0)",
      .doc = R"(Returns the standard deviation of `x` over the dimensions `dim`, or over all dimensions by default: the
square root of the variance, which is the sum of squared deviations from the mean divided by max(0, n -
correction) for n elements. `keepdim` keeps the reduced dimensions with size 1.

>>> lucid.std(lucid.tensor([1.0, 2.0, 3.0]))
tensor(1.))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        return {e.sqrt(variance(e, call, in[0], e.mean(in[0], axes_of(call), true)))};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     // The square root is not differentiable at 0. If all elements are equal, their gradient is 0.
                     const Value& deviation = call.out();
                     const Value flat = e.eq(deviation, 0);
                     const Value slope = e.where(flat, 0, e.div(g[0], e.mul(e.where(flat, 1, deviation), 2)));
                     return {variance_gradient(e, call, slope, call.in(0))};
                   },
                   .saved_inputs = {0},
                   .saves_outputs = true},
      .samples = statistics_samples() + with({{{normal({5, 37})}}}, {{"dim", Dims{-1}}, {"correction", 0.0}}),
  };
}

Op var_mean() {
  return {
      .signature = "var_mean(x, dim: axes? = None, keepdim: bool = False, *, correction: float = 1.0) -> var, mean",
      .doc = R"(Returns the variance and the mean of `x` over the dimensions `dim`, or over all dimensions by default,
as `var` and `mean`. The variance divides by max(0, n - correction) for n elements. `keepdim` keeps the
reduced dimensions with size 1.

>>> lucid.var_mean(lucid.tensor([1.0, 2.0, 3.0]))
lucid.return_types.var_mean(var=tensor(1.), mean=tensor(2.)))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value mean = e.mean(in[0], axes_of(call), true);
        const Value reduced = call.flag("keepdim") ? mean : e.mean(in[0], axes_of(call), false);
        return {variance(e, call, in[0], mean), reduced};
      },
      .samples = statistics_samples(),
  };
}

/// x with NaN replaced by 0.
Value without_nan(Emitter& e, const Value& x) { return e.where(e.isnan(x), 0, x); }

Op nansum() {
  return {
      .signature = "nansum(x, dim: axes? = None, keepdim: bool = False, *, dtype: dtype? = None)",
      .doc = R"(Returns the sum of the elements of `x` that are not NaN over the dimensions `dim`, or over all
dimensions by default. `keepdim` keeps the reduced dimensions with size 1. Integers and bools are summed
in i64 unless `dtype` is given.

>>> lucid.nansum(lucid.tensor([1.0, float("nan"), 2.0]))
tensor(3.))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const std::optional<Dtype> dtype = call.is_none("dtype") ? std::nullopt : std::optional(call.dtype_of("dtype"));
        return {e.sum(without_nan(e, in[0]), axes_of(call), call.flag("keepdim"), dtype)};
      },
      .samples = statistics_samples(),
  };
}

Op nanmean() {
  return {
      .signature = "nanmean(x, dim: axes? = None, keepdim: bool = False)",
      .doc = R"(Returns the mean of the elements of `x` that are not NaN over the dimensions `dim`, or over all
dimensions by default. `keepdim` keeps the reduced dimensions with size 1. The result is NaN where every
element is NaN.

>>> lucid.nanmean(lucid.tensor([1.0, float("nan"), 2.0]))
tensor(1.5000))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value count = e.sum(e.logical_not(e.isnan(in[0])), axes_of(call), call.flag("keepdim"));
        return {e.div(e.sum(without_nan(e, in[0]), axes_of(call), call.flag("keepdim")), count)};
      },
      .samples = statistics_samples(),
  };
}

Op count_nonzero() {
  return {
      .signature = "count_nonzero(x, dim: axes? = None)",
      .doc = R"(Counts the nonzero elements of `x` over the dimensions `dim`, or over all dimensions by default. The
result is i64.

>>> lucid.count_nonzero(lucid.tensor([0, 1, 2]))
tensor(2))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        return {e.sum(e.ne(in[0], 0), axes_of(call))};
      },
      .gradient = zero_gradient(),
      .samples = std::vector<Sample>{{{normal({37})}}, {{normal({})}}} +
                 with({{{normal({3, 4})}}}, {{"dim", Dims{0}}}) + with({{{normal({0, 3})}}}, {{"dim", Dims{0}}}),
  };
}

Value norm_of(Emitter& e, const Call& call, const Value& x) {
  const double p = call.real("p");
  const Dims axes = axes_of(call);
  const bool keepdim = call.flag("keepdim");
  if (p == 2) return e.sqrt(e.sum(e.mul(x, x), axes, keepdim));
  if (p == 0) return e.sum(e.ne(x, 0), axes, keepdim, x.dtype());
  const Value size = e.abs(x);
  if (p == 1) return e.sum(size, axes, keepdim);
  if (p == kInfinity) return e.amax(size, axes, keepdim);
  if (p == -kInfinity) return e.amin(size, axes, keepdim);
  return e.pow(e.sum(e.pow(size, p), axes, keepdim), 1 / p);
}

/// The gradient is 0 where the norm is 0, since the norm is not differentiable there.
Values norm_gradient(Emitter& e, const GradientCall& call, std::span<const Value> grads) {
  const double p = call.real("p");
  const Value& x = call.in(0);
  const Value norm = restored(e, call, call.out());
  const Value g = restored(e, call, grads[0]);
  if (p == 0) return {Value()};
  if (p == 1) return {e.mul(g, e.sign(x))};
  if (std::isinf(p)) {
    const Value best = e.eq(e.abs(x), norm);
    const Value share = e.div(g, e.sum(best, axes_of(call), true));
    return {e.where(best, e.mul(share, e.sign(x)), 0)};
  }
  const Value flat = e.eq(norm, 0);
  const Value safe = e.where(flat, 1, norm);
  if (p == 2) return {e.mul(x, e.where(flat, 0, e.div(g, safe)))};
  const Value scale = e.where(flat, 0, e.div(g, e.pow(safe, p - 1)));
  const Value is_zero = e.eq(x, 0);
  const Value slope = e.mul(e.sign(x), e.pow(e.where(is_zero, 1, e.abs(x)), p - 1));
  return {e.mul(slope, scale)};
}

Op norm() {
  std::vector<Sample> samples = statistics_samples();
  for (const double p : {0.0, 1.0, 3.0, 1.5, kInfinity, -kInfinity})
    samples = std::move(samples) + with({{{nonzero({5, 7})}}}, {{"p", p}, {"dim", Dims{1}}});
  return {
      .signature = "norm(x, p: float = 2.0, dim: axes? = None, keepdim: bool = False)",
      .doc = R"(Computes the vector p-norm (sum of |x|^p)^(1/p) over the dimensions `dim`, or over all dimensions by
default. p = inf and p = -inf select the largest and the smallest absolute value, and p = 0 counts the
nonzero elements. `keepdim` keeps the reduced dimensions with size 1. The gradient is 0 where the norm
is 0.

>>> lucid.norm(lucid.tensor([3.0, 4.0]))
tensor(5.))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        return {norm_of(e, call, in[0])};
      },
      .gradient = {.rule = norm_gradient, .saved_inputs = {0}, .saves_outputs = true},
      .samples = std::move(samples),
  };
}

}  // namespace

void add_statistics_ops(std::vector<Op>& ops) {
  for (auto make : {var, standard_deviation, var_mean, nansum, nanmean, count_nonzero, norm}) ops.push_back(make());
}

}  // namespace lucid
