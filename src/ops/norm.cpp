// Normalizations: elements are brought to mean 0 and variance 1 over some dimensions, then scaled and shifted. All of
// them are implemented by standardize, whose single gradient rule makes few passes over memory. The variance takes two
// passes. A sum over dimensions that are not adjacent is computed one run of adjacent dimensions at a time, the last
// run first.

#include <algorithm>
#include <limits>

#include "ops/norm_rules.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

SymInt product_of_sizes(const Dims& shape, const Dims& axes) {
  SymInt count = 1;
  for (const int64_t axis : axes) count *= shape[static_cast<size_t>(axis)];
  return count;
}

/// The sum over some dimensions (ascending), which stay with size 1: one sum for each run of adjacent dimensions.
Value sum_over(Emitter& e, Value x, Dims axes) {
  while (!axes.empty()) {
    Dims run;
    do {
      run.insert(0, axes.back());
      axes.pop_back();
    } while (!axes.empty() && axes.back() + 1 == run.front());
    if (product_of_sizes(x.shape(), run) != 1) x = e.sum(x, run, true);
  }
  return x;
}

Types infer_standardize(const Call& call) {
  const Dims axes = reduced_axes(call, call.rank(0));
  Types types{call.operand(0).type()};
  const TensorType row{compute_dtype(call.dtype(0)), reduced_shape(call.shape(0), axes, true)};
  for (int i = call.flag("centered") ? 2 : 1; i > 0; --i) types.push_back(row);
  return types;
}

/// Whether a tensor of this shape is broadcast along dimension `axis` of a tensor of rank `rank`, at least its own.
bool is_broadcast_along(const Dims& shape, int64_t rank, int64_t axis) {
  const int64_t own = axis - (rank - shape.rank());
  return own < 0 || shape[static_cast<size_t>(own)] == 1;
}

/// The gradient rule of standardize as one op: one plan of few kernels. Returns the requested gradients.
Values standardize_backward_parts(Emitter& e, const Call& call, std::span<const Value> in) {
  const Value& g = in[0];
  const Value& x = in[1];
  const Value& weight = in[2];
  const Value& mean = in[3];
  const Value& variance = in[4];
  const Value& mean_gradient = in[5];
  const Value& variance_gradient = in[6];
  const Dims axes = reduced_axes(call, x.rank());
  const double count = static_cast<double>(int64_t{product_of_sizes(x.shape(), axes)});
  const Value scale = inverse_deviation(e, call, variance);
  // Rematerialized at each use: cheaper than keeping it in memory.
  const auto standard = [&] { return e.mul(mean ? e.sub(x, mean) : x, scale); };
  // Dimensions along which the weight is constant are summed before multiplying by the weight: both its gradient and
  // that of x need these sums.
  const Dims& bias_shape = call.ints("bias_shape");
  Dims constant;
  Dims varying;
  for (const int64_t axis : axes) {
    const bool is_constant = (!weight || is_broadcast_along(weight.shape(), x.rank(), axis)) &&
                             is_broadcast_along(bias_shape, x.rank(), axis);
    (is_constant ? constant : varying).push_back(axis);
  }
  const bool early = !constant.empty();
  const Value early_g = early ? sum_over(e, g, constant) : Value();
  const Value early_product = early ? sum_over(e, e.mul(g, standard()), constant) : Value();
  const auto summed_g = [&] { return early ? early_g : g; };
  const auto summed_product = [&] { return early ? early_product : e.mul(g, standard()); };
  const auto weighted = [&](const Value& value) { return weight ? e.mul(value, weight) : value; };

  Values results;
  if (call.flag("for_x")) {
    Value along_standard = e.div(sum_over(e, weighted(summed_product()), varying), count);
    along_standard = e.sub(along_standard, e.div(e.mul(variance_gradient, 2 / count), e.mul(scale, scale)));
    Value rest = weighted(g);
    if (mean) {
      const Value along_one = e.div(sum_over(e, weighted(summed_g()), varying), count);
      rest = e.sub(rest, e.sub(along_one, e.div(mean_gradient, e.mul(scale, count))));
    }
    results.push_back(e.mul(e.sub(rest, e.mul(standard(), along_standard)), scale));
  }
  // Sums over the dimensions along which a weight or bias was broadcast; those already summed have size 1.
  const auto to_shape = [&](Value value, const Dims& shape) {
    Dims broadcast_axes;
    for (int64_t d = 0; d < value.rank(); ++d)
      if (is_broadcast_along(shape, value.rank(), d) && value.size(d) != 1) broadcast_axes.push_back(d);
    value = sum_over(e, std::move(value), broadcast_axes);
    return value.shape() == shape ? value : e.reshape(value, shape);
  };
  if (call.flag("for_weight")) results.push_back(to_shape(summed_product(), weight.shape()));
  if (!bias_shape.empty()) results.push_back(to_shape(summed_g(), bias_shape));
  return results;
}

Op standardize_backward() {
  return {
      .signature =
          "standardize_backward(g, x, weight?, mean?, var, mean_gradient?, var_gradient, dim: axes, eps: float, "
          "for_x: bool, for_weight: bool, bias_shape: ints) -> tensors",
      .doc = R"(Computes the requested gradients of `standardize`: of `x` with `for_x`, of `weight` with `for_weight`,
and of a bias if `bias_shape` is not empty. `g`, `mean_gradient` and `var_gradient` are the gradients of its
results.

>>> x = lucid.tensor([[1., 3.]])
>>> g = lucid.tensor([[1., 0.]])
>>> zero = lucid.zeros(1, 1)
>>> lucid.standardize_backward(g, x, None, zero + 2, zero + 1, zero, zero, [1], 0.0, True, False, [])
[tensor([[0., 0.]])])",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        Types types;
        if (call.flag("for_x")) types.push_back(call.operand(1).type());
        if (call.flag("for_weight")) types.push_back(requested_type(call, 2));
        const Dims& bias = call.ints("bias_shape");
        if (!bias.empty()) types.push_back({call.has(2) ? call.dtype(2) : call.dtype(0), bias});
        return types;
      },
      .decompose = standardize_backward_parts,
      .samples =
          with({{{normal({3, 5}), normal({3, 5}), absent(), normal({3, 1}), positive({3, 1}), normal({3, 1}),
                  normal({3, 1})}},
                {{normal({3, 5}), normal({3, 5}), absent(), absent(), positive({3, 1}), absent(), normal({3, 1})}}},
               {{"dim", Dims{1}}, {"eps", 0.1}, {"for_x", true}, {"for_weight", false}, {"bias_shape", Dims{}}}) +
          with({{{normal({2, 3, 19}), normal({2, 3, 19}), normal({1, 3, 1}), normal({1, 3, 1}), positive({1, 3, 1}),
                  normal({1, 3, 1}), normal({1, 3, 1})}}},
               {{"dim", Dims{0, 2}},
                {"eps", 0.1},
                {"for_x", true},
                {"for_weight", true},
                {"bias_shape", Dims{1, 3, 1}}}),
  };
}

Op standardize() {
  return {
      .signature = "standardize(x, weight?, bias?, dim: axes, eps: float = 1e-05, centered: bool = True) -> tensors",
      .doc =
          R"(Computes (x - mean) / sqrt(var + eps) * weight + bias, where mean and var are the mean and the biased
variance of `x` over the dimensions `dim`. Returns the result, the mean and the variance, which the gradient needs.
Without `centered`, the mean is not subtracted or returned, and the variance is the mean of the squares. `weight`
and `bias` broadcast.

>>> lucid.standardize(lucid.tensor([[1., 3.]]), None, None, [1], 0.0)
[tensor([[-1.,  1.]]), tensor([[2.]]), tensor([[1.]])])",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = infer_standardize,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const Dims axes = reduced_axes(call, x.rank());
        const SymInt count = product_of_sizes(x.shape(), axes);
        const bool centered = call.flag("centered");
        Values results(1);
        Value deviation = x;
        if (centered) {
          results.push_back(e.div(sum_over(e, x, axes), count));
          deviation = e.sub(x, results.back());
        }
        results.push_back(e.div(sum_over(e, e.mul(deviation, deviation), axes), count));
        Value y = e.mul(deviation, inverse_deviation(e, call, results.back()));
        if (const Value weight = optional_input(in, 1)) y = e.mul(y, weight);
        if (const Value bias = optional_input(in, 2)) y = e.add(y, bias);
        results[0] = y;
        return results;
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const bool centered = call.flag("centered");
                     const Value mean = centered ? call.out(1) : Value();
                     const Value mean_gradient = centered ? g[1] : Value();
                     const bool for_weight = call.has(1) && call.needs(1);
                     const bool for_bias = call.has(2) && call.needs(2);
                     const Values found = e.standardize_backward(
                         g[0], call.in(0), call.argument(1), operand_or_none(mean), call.out(centered ? 2 : 1),
                         operand_or_none(mean_gradient), g[centered ? 2 : 1], call.ints("dim"), call.real("eps"),
                         call.needs(0), for_weight, for_bias ? call.shape(2) : Dims{});
                     Values results(3);
                     size_t next = 0;
                     if (call.needs(0)) results[0] = found[next++];
                     if (for_weight) results[1] = found[next++];
                     if (for_bias) results[2] = found[next++];
                     return results;
                   },
                   .saved_inputs = {0, 1, ~1, ~2}},
      .samples = with({{{normal({3, 19}), absent(), absent()}}, {{normal({3, 19}), normal({1, 19}), normal({1, 19})}}},
                      {{"dim", Dims{1}}}) +
                 with({{{normal({3, 19}), normal({1, 19}), absent()}}}, {{"dim", Dims{1}}, {"centered", false}}) +
                 with({{{normal({4, 3, 7}), normal({1, 3, 1}), normal({1, 3, 1})}},
                       {{strided({4, 3, 7}, {1, 28, 4}), absent(), normal({1, 3, 1})}}},
                      {{"dim", Dims{0, 2}}, {"eps", 0.01}}) +
                 with({{{normal({2, 2, 3, 5}), normal({1, 2, 3, 1}), normal({1, 2, 3, 1})}}}, {{"dim", Dims{2, 3}}}),
  };
}

/// The dimensions that attribute "normalized_shape" covers, which are the last ones.
Dims normalized_axes(const Call& call) {
  const Dims& normalized_shape = call.ints("normalized_shape");
  const Dims& shape = call.shape(0);
  const auto first = shape.rank() - normalized_shape.rank();
  if (normalized_shape.empty() || first < 0 ||
      !std::equal(normalized_shape.begin(), normalized_shape.end(), shape.begin() + first))
    throw ValueError("{}: normalized_shape {} must be the last dimensions of {}", call.name(),
                     to_string(normalized_shape), to_string(call.operand(0).type()));
  Dims axes;
  for (int64_t d = first; d < shape.rank(); ++d) axes.push_back(d);
  return axes;
}

Op layer_norm() {
  return {
      .signature = "layer_norm(x, normalized_shape: ints, weight? = None, bias? = None, eps: float = 1e-05)",
      .doc = R"(Normalizes `x` to mean 0 and variance 1 over its last dimensions, whose sizes are `normalized_shape`,
then multiplies by `weight` and adds `bias`, both of shape `normalized_shape`. `eps` is added to the variance.

>>> lucid.layer_norm(lucid.tensor([[1., 3.], [5., 5.]]), [2], eps=0.0001)
tensor([[-1.0000,  1.0000],
        [ 0.0000,  0.0000]]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        normalized_axes(call);
        check_affine(call, 1, "weight", call.ints("normalized_shape"));
        check_affine(call, 2, "bias", call.ints("normalized_shape"));
        return {call.operand(0).type()};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        return {
            e.standardize(in[0], argument(call, in, 1), argument(call, in, 2), normalized_axes(call), call.real("eps"))
                .front()};
      },
      .samples = with({{{normal({3, 37}), absent(), absent()}},
                       {{normal({3, 37}), normal({37}), normal({37})}},
                       {{strided({4, 37}, {1, 4}), normal({37}), absent()}},
                       {{normal({3, 37}), absent(), normal({37})}},
                       {{normal({0, 37}), normal({37}), normal({37})}}},
                      {{"normalized_shape", Dims{37}}}) +
                 with({{{normal({2, 3, 4, 5}), normal({4, 5}), normal({4, 5})}}},
                      {{"normalized_shape", Dims{4, 5}}, {"eps", 0.1}}) +
                 with({{{normal({300}), normal({300}), normal({300})}}}, {{"normalized_shape", Dims{300}}}),
  };
}

Op rms_norm() {
  return {
      .signature = "rms_norm(x, normalized_shape: ints, weight? = None, eps: float? = None)",
      .doc =
          R"(Divides `x` by the root mean square over its last dimensions, whose sizes are `normalized_shape`, and
multiplies by `weight` of shape `normalized_shape`. `eps` is added to the mean of the squares; it defaults to the
machine epsilon of the dtype in which `x` is computed (f32 for 16-bit floats).

>>> lucid.rms_norm(lucid.tensor([3., 4.]), [2])
tensor([0.8485, 1.1314]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        normalized_axes(call);
        check_affine(call, 1, "weight", call.ints("normalized_shape"));
        return {call.operand(0).type()};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const double rounding = in[0].dtype() == Dtype::kF64 ? std::numeric_limits<double>::epsilon()
                                                             : std::numeric_limits<float>::epsilon();
        const double eps = call.is_none("eps") ? rounding : call.real("eps");
        return {e.standardize(in[0], argument(call, in, 1), Operand(), normalized_axes(call), eps, false).front()};
      },
      .samples =
          with({{{normal({3, 37}), absent()}}, {{normal({3, 37}), normal({37})}}}, {{"normalized_shape", Dims{37}}}) +
          with({{{normal({2, 3, 4, 5}), normal({4, 5})}}}, {{"normalized_shape", Dims{4, 5}}, {"eps", 0.1}}),
  };
}

Op group_norm() {
  return {
      .signature = "group_norm(x, num_groups: int, weight? = None, bias? = None, eps: float = 1e-05)",
      .doc =
          R"(Normalizes `x` to mean 0 and variance 1 over each group of adjacent channels (dimension 1) and all
later dimensions, then multiplies by `weight` and adds `bias`, which have one element for each channel. `num_groups`
must divide the number of channels. `eps` is added to the variance.

>>> lucid.group_norm(lucid.tensor([[1., 3., 5., 5.]]), 2, eps=0.0001)
tensor([[-1.0000,  1.0000,  0.0000,  0.0000]]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        const int64_t groups = call.integer("num_groups");
        if (call.rank(0) < 2 || groups <= 0 || call.shape(0)[1] % groups != 0)
          throw ValueError("group_norm: the channels (dimension 1) of {} cannot be divided into {} groups",
                           to_string(call.operand(0).type()), groups);
        check_affine(call, 1, "weight", Dims{call.shape(0)[1]});
        check_affine(call, 2, "bias", Dims{call.shape(0)[1]});
        return {call.operand(0).type()};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const int64_t groups = call.integer("num_groups");
        const SymInt channels = x.size(1) / groups;
        const SymInt positions = numel(Dims(x.shape().begin() + 2, x.shape().end()));
        const auto grouped = [&](const Value& value) {
          return value ? e.reshape(value, Dims{1, groups, channels, 1}) : Value();
        };
        const Value weight = grouped(optional_input(in, 1));
        const Value bias = grouped(optional_input(in, 2));
        const Value rows = e.reshape(x, Dims{x.size(0), groups, channels, positions});
        const Value y =
            e.standardize(rows, operand_or_none(weight), operand_or_none(bias), Dims{2, 3}, call.real("eps")).front();
        return {e.reshape(y, x.shape())};
      },
      .samples = with({{{normal({2, 4, 3, 5}), absent(), absent()}},
                       {{normal({2, 4, 3, 5}), normal({4}), normal({4})}},
                       {{normal({3, 4}), normal({4}), absent()}}},
                      {{"num_groups", int64_t{2}}}) +
                 with({{{normal({2, 4, 19}), normal({4}), normal({4})}}}, {{"num_groups", int64_t{4}}, {"eps", 0.1}}),
  };
}

}  // namespace

void add_norm_ops(std::vector<Op>& ops) {
  for (auto make : {standardize_backward, standardize, layer_norm, rms_norm, group_norm}) ops.push_back(make());
}

}  // namespace lucid
