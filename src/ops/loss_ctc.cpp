// Connectionist temporal classification (CTC): the loss of sequences of unknown alignment.

#include <limits>

#include "ops/index_rules.h"
#include "ops/loss_rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// Stands for log(0). It is finite, so that the difference of two is not NaN, and far below any sum of real logarithms.
constexpr double kLogZero = -1e30;
/// Losses above this come from impossible alignments.
constexpr double kImpossible = 1e29;

bool has_batch(const Call& call) { return call.rank(0) == 3; }

void check_lengths(const Call& call, size_t i, const char* what, int64_t batch) {
  check_index_dtype(call, i);
  if (numel(call.shape(i)) != batch || call.rank(i) > 1)
    throw ValueError("ctc_loss: {} must have one element for each of the {} sequences, got {}", what, batch,
                     to_string(call.operand(i).type()));
}

SymInt batch_of(const Call& call) { return has_batch(call) ? call.shape(0)[1] : SymInt(1); }

Types infer_ctc(const Call& call) {
  if ((call.rank(0) != 2 && call.rank(0) != 3) || call.shape(0)[0] == 0)
    throw ValueError("ctc_loss: log_probs must be [time, batch, classes] or [time, classes], got {}",
                     to_string(call.operand(0).type()));
  const int64_t batch = batch_of(call);
  check_index_dtype(call, 1);
  const bool in_rows = call.rank(1) == 2 && call.shape(1)[0] == batch;
  if (!in_rows && call.rank(1) != 1)
    throw ValueError("ctc_loss: targets must be [batch, length], or a 1-d concatenation of all targets, got {}",
                     to_string(call.operand(1).type()));
  check_lengths(call, 2, "input_lengths", batch);
  check_lengths(call, 3, "target_lengths", batch);
  const SymInt classes = call.shape(0).back();
  if (const int64_t blank = call.integer("blank"); blank < 0 || blank >= classes)
    throw IndexError("ctc_loss: blank {} is out of range for {} classes", blank, classes);
  const bool each = reduction_of(call) == Reduction::kNone;
  return {{call.dtype(0), each && has_batch(call) ? Dims{batch} : Dims{}}};
}

/// The targets as [batch, length], padded with the blank.
Value targets_in_rows(Emitter& e, const Call& call, const Value& targets, const Value& lengths, int64_t batch) {
  const SymInt total = targets.shape().back();
  const Dims shape{batch, total};
  Value positions = e.iota(shape, 1);
  const Value exists = e.lt(positions, e.unsqueeze(lengths, 1));
  if (total == 0) return e.full(shape, call.integer("blank"), Dtype::kI64);
  Value rows = targets;
  if (targets.rank() == 1) {
    const Value begins = e.sub(e.cumsum(lengths, 0), lengths);
    positions = e.clamp(e.add(positions, e.unsqueeze(begins, 1)), 0, total - 1);
    rows = e.reshape(e.index_select(targets, 0, e.reshape(positions, Dims{-1})), shape);
  }
  return e.where(exists, rows, call.integer("blank"));
}

/// Shifts elements by `steps` along the last dimension of [batch, states] and fills the front with kLogZero.
Value shifted(Emitter& e, const Value& x, int64_t steps) {
  return e.constant_pad(e.narrow(x, 1, 0, x.size(1) - steps), Dims{steps, 0}, kLogZero);
}

Values ctc_parts(Emitter& e, const Call& call, std::span<const Value> in) {
  const Value log_probs = has_batch(call) ? in[0] : e.unsqueeze(in[0], 1);
  const SymInt time = log_probs.size(0);
  const SymInt batch = log_probs.size(1);
  const Value input_lengths = e.reshape(in[2], Dims{batch});
  const Value target_lengths = e.reshape(in[3], Dims{batch});
  const Value targets = targets_in_rows(e, call, in[1], target_lengths, batch);
  const int64_t blank = call.integer("blank");
  // The states are a blank before each label and one after the last, so odd states have the targets as labels.
  const SymInt states = 2 * targets.size(1) + 1;
  const Value spread =
      e.reshape(e.stack(Values{e.full(targets.shape(), blank, Dtype::kI64), targets}, 2), Dims{batch, states - 1});
  const Value labels = e.cat(Values{spread, e.full(Dims{batch, 1}, blank, Dtype::kI64)}, 1);
  // The blank between two labels may be skipped unless the labels are equal.
  Value skips;
  if (states > 2) {
    const Value previous = e.narrow(labels, 1, 0, states - 2);
    const Value current = e.narrow(labels, 1, 2, states - 2);
    const Value differs = e.logical_and(e.ne(current, blank), e.ne(current, previous));
    skips = e.cat(Values{e.full(Dims{batch, 2}, false, Dtype::kBool), differs}, 1);
  }
  const Value index = e.expand(e.unsqueeze(labels, 0), Dims{time, batch, states});
  const Value emitted = e.gather(log_probs, 2, index);
  const auto at = [&](int64_t t) { return e.select(emitted, 0, t); };
  // A sequence starts with the first blank or the first label.
  Value alpha = e.where(e.lt(e.iota(Dims{batch, states}, 1), 2), at(0), kLogZero);
  for (int64_t t = 1; t < time; ++t) {
    Values ways = {alpha};
    if (states > 1) ways.push_back(shifted(e, alpha, 1));
    if (skips) ways.push_back(e.where(skips, shifted(e, alpha, 2), kLogZero));
    const Value next = e.add(e.logsumexp(e.stack(ways, 0), Dims{0}), at(t));
    alpha = e.where(e.unsqueeze(e.gt(input_lengths, t), 1), next, alpha);
  }
  // It ends with the last label or the blank after it.
  const Value last = e.unsqueeze(e.mul(target_lengths, 2), 1);
  const Value after = e.gather(alpha, 1, last);
  const Value before = e.where(e.gt(last, 0), e.gather(alpha, 1, e.clamp(e.sub(last, 1), 0)), kLogZero);
  Value losses = e.neg(e.logsumexp(e.cat(Values{after, before}, 1), Dims{1}));
  const double instead = call.flag("zero_infinity") ? 0.0 : std::numeric_limits<double>::infinity();
  losses = e.where(e.gt(losses, kImpossible), instead, losses);
  switch (reduction_of(call)) {
    case Reduction::kMean:
      return {e.mean(e.div(losses, e.cast(e.clamp(target_lengths, 1), losses.dtype())))};
    case Reduction::kSum:
      return {e.sum(losses)};
    default:
      return {has_batch(call) ? losses : e.reshape(losses, Dims{})};
  }
}

SampleTensor lengths(Dims shape, int64_t length) {
  return {.shape = std::move(shape), .fill = Fill::kBound, .dtype = Dtype::kI64, .bound = length};
}

Op ctc_loss() {
  return {
      .signature =
          "ctc_loss(log_probs, targets, input_lengths, target_lengths, blank: int = 0, *, reduction: str = "
          "'mean', zero_infinity: bool = False)",
      .doc =
          R"(Computes the connectionist temporal classification loss: minus the logarithm of the probability of the
target sequence, summed over all alignments, where an alignment yields its target when repetitions are merged and
blanks removed. `log_probs` is [time, batch, classes], or [time, classes] without a batch; `targets` is
[batch, length], or the concatenation of all targets. `input_lengths` and `target_lengths` hold the lengths of each
sequence, and `blank` is the class of blanks. `reduction` is 'mean', the mean of the losses divided by their target
lengths, 'sum' or 'none'. The loss of a target that is too long for its input is infinite, or 0 with
`zero_infinity`.

>>> even = lucid.full((2, 1, 2), 0.5).log()
>>> lucid.ctc_loss(even, lucid.tensor([[1]]), lucid.tensor([2]), lucid.tensor([1]))
tensor(0.2877))",
      .dtypes = kFloats,
      .infer = infer_ctc,
      .decompose = ctc_parts,
      .samples = with(with_reductions({{{normal({5, 3, 5}), offsets({3, 2}, 4), lengths({3}, 4), lengths({3}, 2)}},
                                       {{normal({5, 2, 5}), offsets({4}, 4), lengths({2}, 5), lengths({2}, 2)}}}) +
                          std::vector<Sample>{{{normal({3, 5}), offsets({1}, 4), lengths({1}, 3), lengths({1}, 1)}}},
                      {{"blank", int64_t{4}}}),
  };
}

}  // namespace

void add_ctc_ops(std::vector<Op>& ops) { ops.push_back(ctc_loss()); }

}  // namespace lucid
