// Normalizations of channels: over batches and instances, by running statistics, and by neighboring channels.

#include <algorithm>

#include "ops/norm_rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// x as [batch, channels, positions].
Value by_channels(Emitter& e, const Value& x) {
  return e.reshape(x, Dims{x.size(0), x.size(1), numel(Dims(x.shape().begin() + 2, x.shape().end()))});
}

/// One number for each channel, broadcastable to the result of by_channels.
Value per_channel(Emitter& e, const Value& value) {
  return value ? e.reshape(value, Dims{1, value.size(0), 1}) : Value();
}

/// Operands of batch_norm and instance_norm: x, running_mean, running_var, weight, bias.
Types infer_with_statistics(const Call& call, bool from_input) {
  const int64_t min_rank = call.name() == "batch_norm" ? 2 : 3;
  if (call.rank(0) < min_rank)
    throw ValueError("{}: x must have at least {} dimensions, with channels in dimension 1, got {}", call.name(),
                     min_rank, to_string(call.operand(0).type()));
  const Dims channels{call.shape(0)[1]};
  check_affine(call, 1, "running_mean", channels);
  check_affine(call, 2, "running_var", channels);
  check_affine(call, 3, "weight", channels);
  check_affine(call, 4, "bias", channels);
  if (call.has(1) != call.has(2))
    throw ValueError("{}: running_mean and running_var must be given together", call.name());
  if (!from_input && !call.has(1))
    throw ValueError("{}: running_mean and running_var are required unless the statistics of x are used", call.name());
  const Dtype dtype = call.has(1) ? call.dtype(1) : compute_dtype(call.dtype(0));
  return {call.operand(0).type(), {dtype, channels}, {dtype, channels}};
}

/// The normalized x, and copies of the running statistics.
Values by_running_statistics(Emitter& e, const Call& call, std::span<const Value> in) {
  const Value rows = by_channels(e, in[0]);
  Value scale = inverse_deviation(e, call, in[2]);
  if (in[3]) scale = e.mul(scale, in[3]);
  Value y = e.mul(e.sub(rows, per_channel(e, in[1])), per_channel(e, scale));
  if (in[4]) y = e.add(y, per_channel(e, in[4]));
  return {e.cast(e.reshape(y, in[0].shape()), in[0].dtype()), e.clone(in[1]), e.clone(in[2])};
}

/// The running statistic updated with that of this input, one number for each channel. `correction` makes a variance
/// unbiased. Without a running statistic, returns that of the input.
Value updated_statistic(Emitter& e, const Call& call, const Value& running, const Value& seen, double correction) {
  Value now = correction == 1 ? seen : e.mul(seen, correction);
  if (!running) return now;
  const double momentum = call.real("momentum");
  return e.cast(e.add(e.mul(running, 1 - momentum), e.mul(now, momentum)), running.dtype());
}

double unbiased(int64_t count) { return static_cast<double>(count) / static_cast<double>(count - 1); }

std::vector<Sample> statistics_samples(Dims shape, const char* flag) {
  const Dims channels{shape[1]};
  const SampleTensor x = normal(std::move(shape));
  const SampleTensor number = normal(channels);
  const SampleTensor variance = positive(channels);
  return with({{{x, absent(), absent(), absent(), absent()}},
               {{x, number, variance, number, number}},
               {{x, number, variance, absent(), number}}},
              {{flag, true}, {"momentum", 0.25}, {"eps", 0.01}}) +
         with({{{x, number, variance, number, number}}, {{x, number, variance, absent(), absent()}}}, {{flag, false}});
}

Op batch_norm() {
  return {
      .signature =
          "batch_norm(x, running_mean? = None, running_var? = None, weight? = None, bias? = None, "
          "training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> output, running_mean, running_var",
      .doc =
          R"(Normalizes `x` to mean 0 and variance 1 for each channel (dimension 1), then multiplies by `weight`
and adds `bias`, which have one element for each channel. With `training`, the mean and variance are computed from
`x`, and the returned running statistics are (1 - momentum) * running + momentum * new, where the new variance is
unbiased; without running statistics, the new ones are returned. Otherwise the running statistics are used and
returned unchanged. No operand is written: the caller stores the returned statistics. `eps` is added to the
variance.

>>> y = lucid.batch_norm(lucid.tensor([[1., 0.], [3., 4.]]), lucid.zeros(2), lucid.ones(2), training=True, momentum=0.5)
>>> y.output
tensor([[-1.0000, -1.0000],
        [ 1.0000,  1.0000]])
>>> y.running_mean, y.running_var
(tensor([1., 1.]), tensor([1.5000, 4.5000])))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        if (call.flag("training") && call.rank(0) >= 2 && call.shape(0)[1] > 0 &&
            numel(call.shape(0)) == call.shape(0)[1])
          throw ValueError("batch_norm: training needs more than one value for each channel, got {}",
                           to_string(call.operand(0).type()));
        return infer_with_statistics(call, call.flag("training"));
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (!call.flag("training")) return by_running_statistics(e, call, in);
        const Value rows = by_channels(e, in[0]);
        const Value weight = per_channel(e, in[3]);
        const Value bias = per_channel(e, in[4]);
        const Values found =
            e.standardize(rows, operand_or_none(weight), operand_or_none(bias), Dims{0, 2}, call.real("eps"));
        const Dims channels{rows.size(1)};
        const SymInt count = rows.size(0) * rows.size(2);
        return {e.reshape(found[0], in[0].shape()), updated_statistic(e, call, in[1], e.reshape(found[1], channels), 1),
                updated_statistic(e, call, in[2], e.reshape(found[2], channels), unbiased(count))};
      },
      .samples = statistics_samples({4, 3}, "training") + statistics_samples({2, 3, 4, 5}, "training"),
  };
}

Op instance_norm() {
  return {
      .signature =
          "instance_norm(x, running_mean? = None, running_var? = None, weight? = None, bias? = None, use_input_stats: "
          "bool = True, "
          "momentum: float = 0.1, eps: float = 1e-05) -> output, running_mean, running_var",
      .doc =
          R"(Normalizes `x` to mean 0 and variance 1 for each channel of each instance of the batch, then
multiplies by `weight` and adds `bias`, which have one element for each channel. Without `use_input_stats`, the
running statistics are used instead. Running statistics are updated and returned as by `batch_norm`, with the means
over the batch as the new values.

>>> lucid.instance_norm(lucid.tensor([[[1., 3.]]])).output
tensor([[[-1.0000,  1.0000]]]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        const bool from_input = call.flag("use_input_stats");
        Types types = infer_with_statistics(call, from_input);
        if (from_input && call.shape(0)[0] * call.shape(0)[1] > 0 &&
            numel(call.shape(0)) == call.shape(0)[0] * call.shape(0)[1])
          throw ValueError("instance_norm: statistics need more than one value for each channel of an instance, got {}",
                           to_string(call.operand(0).type()));
        return types;
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (!call.flag("use_input_stats")) return by_running_statistics(e, call, in);
        const Value rows = by_channels(e, in[0]);
        const Value weight = per_channel(e, in[3]);
        const Value bias = per_channel(e, in[4]);
        const Values found =
            e.standardize(rows, operand_or_none(weight), operand_or_none(bias), Dims{2}, call.real("eps"));
        const auto over_batch = [&](const Value& each) { return e.reshape(e.mean(each, Dims{0}), Dims{rows.size(1)}); };
        return {e.reshape(found[0], in[0].shape()), updated_statistic(e, call, in[1], over_batch(found[1]), 1),
                updated_statistic(e, call, in[2], over_batch(found[2]), unbiased(rows.size(2)))};
      },
      .samples =
          statistics_samples({2, 3, 19}, "use_input_stats") + statistics_samples({2, 3, 4, 5}, "use_input_stats"),
  };
}

Op normalize() {
  return {
      .signature = "normalize(x, p: float = 2.0, dim: axis = 1, eps: float = 1e-12)",
      .doc = R"(Divides `x` by its p-norm along `dim`, or by `eps` where the norm is smaller.

>>> lucid.normalize(lucid.tensor([3., 4.]), dim=0)
tensor([0.6000, 0.8000]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Dims axis{call.axis("dim")};
        return {e.div(in[0], e.clamp(e.norm(in[0], call.real("p"), axis, true), call.real("eps")))};
      },
      .samples = std::vector<Sample>{{{normal({3, 19})}}, {{normal({2, 3, 4})}}, {{strided({4, 3}, {1, 4})}}} +
                 with({{{nonzero({5, 3})}}}, {{"p", 1.0}, {"dim", int64_t{0}}}) +
                 with({{{normal({5, 3})}}}, {{"eps", 5.0}}),
  };
}

Op local_response_norm() {
  return {
      .signature = "local_response_norm(x, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0)",
      .doc =
          R"(Divides `x` by (k + alpha * m) ** beta, where m is the mean of the squares over `size` neighboring
channels (dimension 1). Channels beyond the ends count as 0. `x` must have at least 3 dimensions.

>>> lucid.local_response_norm(lucid.tensor([[[1.], [2.]]]), 2, alpha=2.0, beta=1.0)
tensor([[[0.5000],
         [0.3333]]]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const int64_t size = call.integer("size");
        if (x.rank() < 3 || size <= 0)
          throw ValueError("local_response_norm: x must have at least 3 dimensions and size be positive, got {} and {}",
                           to_string(x.type()), size);
        // Channels beyond the ends count as 0, so the window is cut to the number of channels.
        const SymInt before = std::min<SymInt>(size / 2, x.size(1));
        const SymInt after = std::min<SymInt>((size - 1) / 2, x.size(1));
        Dims pad(static_cast<size_t>(2 * (x.rank() - 1)), 0);
        pad[pad.size() - 2] = before;
        pad[pad.size() - 1] = after;
        const Value squares = e.constant_pad(e.mul(x, x), pad, 0.0);
        Value sum = e.narrow(squares, 1, 0, x.size(1));
        for (int64_t i = 1; i <= before + after; ++i) sum = e.add(sum, e.narrow(squares, 1, i, x.size(1)));
        const Value base = e.add(e.mul(e.div(sum, size), call.real("alpha")), call.real("k"));
        return {e.div(x, e.pow(base, call.real("beta")))};
      },
      .samples = with({{{normal({2, 5, 4})}}}, {{"size", int64_t{3}}, {"alpha", 0.5}}) +
                 with({{{normal({2, 4, 3, 3})}}}, {{"size", int64_t{2}}}),
  };
}

}  // namespace

void add_batch_norm_ops(std::vector<Op>& ops) {
  for (auto make : {batch_norm, instance_norm, normalize, local_response_norm}) ops.push_back(make());
}

}  // namespace lucid
