// Normalisations of channels: over batches and instances, by running statistics, by neighbours.

#include <algorithm>

#include "ops/norm_rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// x as [batch, channels, places].
Value by_channels(Emitter& e, const Value& x) {
  return e.reshape(x, Dims{x.size(0), x.size(1), numel(Dims(x.shape().begin() + 2, x.shape().end()))});
}

/// A number for each channel, beside what by_channels gives.
Value beside_channels(Emitter& e, const Value& value) {
  return value ? e.reshape(value, Dims{1, value.size(0), 1}) : Value();
}

/// Operands of batch_norm and instance_norm: x, running_mean, running_var, weight, bias.
Types infer_with_statistics(const Call& call, bool from_input) {
  const int64_t least = call.name() == "batch_norm" ? 2 : 3;
  if (call.rank(0) < least)
    throw ValueError("{}: x must have at least {} dimensions, channels being dimension 1, got {}", call.name(), least,
                     to_string(call.operand(0).type()));
  const Dims wanted{call.shape(0)[1]};
  check_affine(call, 1, "running_mean", wanted);
  check_affine(call, 2, "running_var", wanted);
  check_affine(call, 3, "weight", wanted);
  check_affine(call, 4, "bias", wanted);
  if (call.has(1) != call.has(2))
    throw ValueError("{}: running_mean and running_var are given together or not at all", call.name());
  if (!from_input && !call.has(1))
    throw ValueError("{}: without statistics of the input it needs running_mean and running_var", call.name());
  const Dtype dtype = call.has(1) ? call.dtype(1) : compute_dtype(call.dtype(0));
  return {call.operand(0).type(), {dtype, wanted}, {dtype, wanted}};
}

/// y, and the running statistics as they were.
Values by_running_statistics(Emitter& e, const Call& call, std::span<const Value> in) {
  const Value rows = by_channels(e, in[0]);
  Value scale = inverse_deviation(e, call, in[2]);
  if (in[3]) scale = e.mul(scale, in[3]);
  Value y = e.mul(e.sub(rows, beside_channels(e, in[1])), beside_channels(e, scale));
  if (in[4]) y = e.add(y, beside_channels(e, in[4]));
  return {e.cast(e.reshape(y, in[0].shape()), in[0].dtype()), e.clone(in[1]), e.clone(in[2])};
}

/// A statistic of this input, a number for each channel, taken into the running one; `correction` makes a variance
/// unbiased.
Value taken_in(Emitter& e, const Call& call, const Value& running, const Value& seen, double correction) {
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
          R"(x with mean 0 and variance 1 for each channel (dimension 1), times weight plus bias. In training the mean and the variance
are those of x, and the running ones that come back have taken in momentum times them (the variance unbiased); without
running ones they come back as they are. Otherwise the running ones are used, and come back unchanged. Nothing is written:
whoever keeps running statistics stores what comes back.

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
          throw ValueError("batch_norm: in training it needs more than one value for each channel, got {}",
                           to_string(call.operand(0).type()));
        return infer_with_statistics(call, call.flag("training"));
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (!call.flag("training")) return by_running_statistics(e, call, in);
        const Value rows = by_channels(e, in[0]);
        const Value weight = beside_channels(e, in[3]);
        const Value bias = beside_channels(e, in[4]);
        const Values found =
            e.standardize(rows, operand_or_none(weight), operand_or_none(bias), Dims{0, 2}, call.real("eps"));
        const Dims channels{rows.size(1)};
        const int64_t count = rows.size(0) * rows.size(2);
        return {e.reshape(found[0], in[0].shape()), taken_in(e, call, in[1], e.reshape(found[1], channels), 1),
                taken_in(e, call, in[2], e.reshape(found[2], channels), unbiased(count))};
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
          R"(x with mean 0 and variance 1 for each channel of each element of the batch, times weight plus bias. Running statistics
come back as from batch_norm, having taken in the means over the batch.

>>> lucid.instance_norm(lucid.tensor([[[1., 3.]]])).output
tensor([[[-1.0000,  1.0000]]]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        const bool from_input = call.flag("use_input_stats");
        Types types = infer_with_statistics(call, from_input);
        if (from_input && call.shape(0)[0] * call.shape(0)[1] > 0 &&
            numel(call.shape(0)) == call.shape(0)[0] * call.shape(0)[1])
          throw ValueError("instance_norm: it needs more than one value for each channel of an element, got {}",
                           to_string(call.operand(0).type()));
        return types;
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (!call.flag("use_input_stats")) return by_running_statistics(e, call, in);
        const Value rows = by_channels(e, in[0]);
        const Value weight = beside_channels(e, in[3]);
        const Value bias = beside_channels(e, in[4]);
        const Values found =
            e.standardize(rows, operand_or_none(weight), operand_or_none(bias), Dims{2}, call.real("eps"));
        const auto over_batch = [&](const Value& each) { return e.reshape(e.mean(each, Dims{0}), Dims{rows.size(1)}); };
        return {e.reshape(found[0], in[0].shape()), taken_in(e, call, in[1], over_batch(found[1]), 1),
                taken_in(e, call, in[2], over_batch(found[2]), unbiased(rows.size(2)))};
      },
      .samples =
          statistics_samples({2, 3, 19}, "use_input_stats") + statistics_samples({2, 3, 4, 5}, "use_input_stats"),
  };
}

Op normalize() {
  return {
      .signature = "normalize(x, p: float = 2.0, dim: int = 1, eps: float = 1e-12)",
      .doc = R"(x divided by its p-norm along dim, or by eps where the norm is smaller.

>>> lucid.normalize(lucid.tensor([3., 4.]), dim=0)
tensor([0.6000, 0.8000]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Dims axis{normalize_axis(call.name(), call.integer("dim"), call.rank(0))};
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
          R"(x divided by (k + alpha * m) ** beta, m being the mean of the squares of `size` neighbouring channels (dimension 1),
those beyond the ends counting as 0.

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
        // Channels further off than there are any count as 0 without being looked at.
        const int64_t before = std::min(size / 2, x.size(1));
        const int64_t after = std::min((size - 1) / 2, x.size(1));
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
