// Losses of classifiers, which compare scores for each class with the target class. Classes are dimension 1, or
// dimension 0 without a batch.

#include "ops/bound_rules.h"
#include "ops/index_rules.h"
#include "ops/loss_rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// The shape of the scores as [batch, classes, positions].
Dims class_shape(const Call& call) {
  const Dims& shape = call.shape(0);
  if (shape.empty())
    throw ValueError("{}: x must have a dimension of classes, got {}", call.name(), to_string(call.operand(0).type()));
  if (shape.rank() == 1) return {1, shape[0], 1};
  return {shape[0], shape[1], numel(Dims(shape.begin() + 2, shape.end()))};
}

/// The shape of a tensor with one element for each example: the shape of x without the classes.
Dims example_shape(const Call& call) {
  Dims shape = call.shape(0);
  shape.erase(shape.rank() == 1 ? 0 : 1);
  return shape;
}

void check_class_weight(const Call& call, size_t i, SymInt classes) {
  if (!call.has(i)) return;
  if (!call.operand(i).is_value() || !is_float(call.dtype(i)))
    throw TypeError("{}: weight must be a floating-point tensor, got {}", call.name(),
                    to_string(call.operand(i).type()));
  if (call.shape(i) != Dims{classes})
    throw ValueError("{}: weight must have one element for each of the {} classes of {}, got {}", call.name(), classes,
                     to_string(call.operand(0).type()), to_string(call.operand(i).type()));
}

void check_classes(const Call& call, size_t i) {
  check_index_dtype(call, i);
  if (call.shape(i) != example_shape(call))
    throw ValueError("{}: target must have shape {} for x {}, got {}", call.name(), to_string(example_shape(call)),
                     to_string(call.operand(0).type()), to_string(call.operand(i).type()));
}

/// Properties of targets [batch, positions] that are class indices; all have shape [batch, 1, positions].
struct Targets {
  Value is_counted;  // false for ignore_index
  Value classes;     // 0 where ignored
  Value weight;      // of the class, 0 where ignored

  Targets(Emitter& e, const Call& call, const Value& target, const Value& weights, Dtype dtype) {
    const Value unfolded = e.unsqueeze(target, 1);
    is_counted = e.ne(unfolded, call.integer("ignore_index"));
    classes = e.where(is_counted, unfolded, 0);
    weight = e.cast(is_counted, dtype);
    if (weights) {
      const Value picked = e.reshape(e.index_select(weights, 0, e.reshape(classes, Dims{-1})), classes.shape());
      weight = e.mul(picked, weight);
    }
  }
};

/// One number for each class, broadcastable to scores [batch, classes, positions].
Value per_class(Emitter& e, const Value& weights) { return e.reshape(weights, Dims{1, weights.size(0), 1}); }

double smoothing_of(const Call& call) {
  const double smoothing = call.real("label_smoothing");
  if (!(smoothing >= 0 && smoothing <= 1))
    throw ValueError("{}: label_smoothing must be between 0 and 1, got {}", call.name(), smoothing);
  return smoothing;
}

Values class_loss_parts(Emitter& e, const Call& call, std::span<const Value> in) {
  const Value& x = in[0];
  const Value& weights = in[2];
  const double smoothing = smoothing_of(call);
  const Targets targets(e, call, in[1], weights, x.dtype());
  const Value largest = e.amax(x, Dims{1}, true);
  const Value logsumexp = e.add(e.log(e.sum(e.exp(e.sub(x, largest)), Dims{1}, true)), largest);
  Value losses = e.mul(e.sub(logsumexp, e.gather(x, 1, targets.classes)), e.mul(targets.weight, 1 - smoothing));
  if (smoothing != 0) {
    Value costs = e.sub(logsumexp, x);
    if (weights) costs = e.mul(costs, per_class(e, weights));
    losses = e.add(losses, e.mul(e.sum(costs, Dims{1}, true), smoothing / static_cast<double>(x.size(1))));
  }
  losses = e.where(targets.is_counted, losses, 0);
  const Value total = e.sum(targets.weight);
  switch (reduction_of(call)) {
    case Reduction::kMean:
      return {e.div(e.sum(losses), total), logsumexp, total};
    case Reduction::kSum:
      return {e.sum(losses), logsumexp, total};
    default:
      return {losses, logsumexp, total};
  }
}

/// The gradients of x [batch, classes, positions] and, with for_weight, of the weights. The operands are the gradients
/// of the results of class_loss, its operands and its results.
Values class_loss_backward_parts(Emitter& e, const Call& call, std::span<const Value> in) {
  const Value& x = in[3];
  const Value& target = in[4];
  const Value& weights = in[5];
  const Value& loss = in[6];
  const Value& logsumexp = in[7];
  const Value& total = in[8];
  const bool is_mean = reduction_of(call) == Reduction::kMean;
  const double smoothing = smoothing_of(call);
  const double share = smoothing / static_cast<double>(x.size(1));
  const Targets targets(e, call, target, weights, x.dtype());
  const Value g = e.where(targets.is_counted, is_mean ? e.div(in[0], total) : in[0], 0);
  const auto is_right = [&] { return e.eq(e.iota(x.shape(), 1), targets.classes); };
  // The target probability of each class.
  const auto target_probabilities = [&] {
    if (smoothing == 0) return e.cast(is_right(), x.dtype());
    // `where` of two numbers would have the default dtype.
    return e.where(is_right(), e.full(Dims{}, 1 - smoothing + share, x.dtype()), share);
  };
  Value whole = e.mul(targets.weight, 1 - smoothing);
  if (smoothing != 0)
    whole = e.add(whole, weights ? e.mul(e.sum(weights), share) : e.full(Dims{}, smoothing, x.dtype()));
  const Value along_softmax = e.add(e.mul(g, whole), in[1]);
  const Value spread = e.mul(e.exp(e.sub(x, logsumexp)), along_softmax);
  const Value held = weights ? e.mul(target_probabilities(), per_class(e, weights)) : target_probabilities();
  Values results = {e.sub(spread, e.mul(held, g))};
  if (call.flag("for_weight")) {
    // The weights also determine the total that a mean is divided by.
    Value total_gradient = in[2];
    if (is_mean) total_gradient = e.sub(total_gradient, e.div(e.mul(in[0], loss), total));
    const Value costs = e.mul(e.mul(target_probabilities(), e.sub(logsumexp, x)), g);
    const Value right_gradient = e.where(e.logical_and(is_right(), targets.is_counted), total_gradient, 0);
    results.push_back(e.sum(e.sum(e.add(costs, right_gradient), Dims{2}), Dims{0}));
  }
  return results;
}

std::vector<Sample> class_samples(bool smooth) {
  std::vector<Sample> samples = with_reductions({{{normal({5, 7, 1}), offsets({5, 1}, 7), absent()}},
                                                 {{normal({5, 3, 2}), offsets({5, 2}, 3), positive({3})}}}) +
                                with({{{normal({5, 3, 2}), offsets({5, 2}, 3), positive({3})}},
                                      {{normal({5, 3, 2}), offsets({5, 2}, 3), absent()}}},
                                     {{"ignore_index", int64_t{1}}});
  return smooth ? samples + with(samples, {{"label_smoothing", 0.125}}) : samples;
}

Op class_loss() {
  return {
      .signature =
          "class_loss(x, target, weight?, ignore_index: int = -100, label_smoothing: float = 0.0, reduction: str = "
          "'mean') -> loss, logsumexp, total_weight",
      .doc =
          R"(Computes the `cross_entropy` of scores `x` [batch, classes, positions] and class indices `target`
[batch, positions], and returns it with intermediate results that its gradient needs: `logsumexp` of the scores over
the classes, and the total weight of the targets.

>>> lucid.class_loss(lucid.tensor([[[0.], [0.]]]), lucid.tensor([[1]]), None)
lucid.return_types.class_loss(loss=tensor(0.6931), logsumexp=tensor([[[0.6931]]]), total_weight=tensor(1.)))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        const Dtype dtype = call.dtype(0);
        const Dims rows{call.shape(0)[0], 1, call.shape(0)[2]};
        return {{dtype, reduction_of(call) == Reduction::kNone ? rows : Dims{}},
                {compute_dtype(dtype), rows},
                {compute_dtype(dtype), {}}};
      },
      .decompose = class_loss_parts,
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const bool for_weight = call.has(2) && call.needs(2);
                     Values found =
                         e.class_loss_backward(g[0], g[1], g[2], call.in(0), call.in(1), call.argument(2), call.out(0),
                                               call.out(1), call.out(2), call.integer("ignore_index"),
                                               call.real("label_smoothing"), call.text("reduction"), for_weight);
                     return {found[0], Value(), for_weight ? found[1] : Value()};
                   },
                   .saved_inputs = {0, 1, 2},
                   .saves_outputs = true},
      .bounds = bounds_of_target,
      .samples = class_samples(true),
  };
}

Op class_loss_backward() {
  return {
      .signature =
          "class_loss_backward(g, logsumexp_gradient, total_gradient, x, target, weight?, loss, logsumexp, total, "
          "ignore_index: int, label_smoothing: float, reduction: str, for_weight: bool) -> tensors",
      .doc = R"(Computes the gradient of `class_loss` with respect to `x` and, with `for_weight`, with respect to
`weight`. `g`, `logsumexp_gradient` and `total_gradient` are the gradients of its results.

>>> x = lucid.tensor([[[0.], [0.]]])
>>> zero = lucid.zeros(())
>>> lucid.class_loss_backward(zero + 1, zero, zero, x, lucid.tensor([[1]]), None, zero, x[:, :1] + math.log(2), zero + 1,
...                           -100, 0.0, "mean", False)
[tensor([[[ 0.5000],
         [-0.5000]]])])",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        Types types{call.operand(3).type()};
        if (call.flag("for_weight")) types.push_back(requested_type(call, 5));
        return types;
      },
      .decompose = class_loss_backward_parts,
      .samples = with({{{normal({}), normal({5, 1, 2}), normal({}), normal({5, 3, 2}), offsets({5, 2}, 3),
                         positive({3}), normal({}), normal({5, 1, 2}), positive({})}}},
                      {{"ignore_index", int64_t{1}},
                       {"label_smoothing", 0.25},
                       {"reduction", std::string("mean")},
                       {"for_weight", true}}),
  };
}

/// Cross entropy with class probabilities as the target.
Value soft_cross_entropy(Emitter& e, const Call& call, const Value& x, const Value& target, const Value& weights) {
  if (target.shape() != x.shape())
    throw ValueError("cross_entropy: target probabilities must have the shape of x {}, got {}", to_string(x.type()),
                     to_string(target.type()));
  const Dims shape = class_shape(call);
  const double smoothing = smoothing_of(call);
  Value target_probabilities = e.reshape(target, shape);
  if (smoothing != 0)
    target_probabilities = e.add(e.mul(target_probabilities, 1 - smoothing), smoothing / static_cast<double>(shape[1]));
  if (weights) target_probabilities = e.mul(target_probabilities, per_class(e, weights));
  const Value losses = e.neg(e.sum(e.mul(target_probabilities, e.log_softmax(e.reshape(x, shape), 1)), Dims{1}));
  return reduced_losses(e, call, e.reshape(losses, example_shape(call)));
}

Op cross_entropy() {
  return {
      .signature =
          "cross_entropy(x, target, weight? = None, *, ignore_index: int = -100, reduction: str = 'mean', "
          "label_smoothing: float = 0.0)",
      .doc =
          R"(Computes -log(softmax(x)) at the target class. `x` holds scores, with classes in dimension 1
(dimension 0 without a batch). `target` holds i64 class indices in the shape of `x` without the classes, or
probabilities of all classes in the shape of `x`. `weight` has one factor for each class. Targets equal to
`ignore_index` are ignored, and with class indices the mean is weighted by `weight`. `label_smoothing`, from 0 to 1,
is the part of the target that is spread evenly over all classes. `reduction` is 'mean', 'sum' or 'none', which
returns the loss of each example.

>>> lucid.cross_entropy(lucid.tensor([[0., 0.], [0., 100.]]), lucid.tensor([0, 1]))
tensor(0.3466))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        const Dims shape = class_shape(call);
        smoothing_of(call);
        check_class_weight(call, 2, shape[1]);
        if (!call.operand(1).is_value() || !is_float(call.dtype(1))) check_classes(call, 1);
        return {{call.dtype(0), reduction_of(call) == Reduction::kNone ? example_shape(call) : Dims{}}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (is_float(in[1].dtype())) return {soft_cross_entropy(e, call, in[0], in[1], in[2])};
        const Dims shape = class_shape(call);
        const Value scores = e.reshape(in[0], shape);
        const Value target = e.reshape(in[1], Dims{shape[0], shape[2]});
        const Value loss =
            e.class_loss(scores, target, in[2] ? Operand(in[2]) : Operand(), call.integer("ignore_index"),
                         call.real("label_smoothing"), call.text("reduction"))
                .front();
        return {reduction_of(call) == Reduction::kNone ? e.reshape(loss, example_shape(call)) : loss};
      },
      .bounds = bounds_of_target,
      .samples =
          with_reductions({{{normal({5, 7}), offsets({5}, 7), absent()}},
                           {{normal({2, 3, 4, 5}), offsets({2, 4, 5}, 3), positive({3})}},
                           {{normal({5, 7}), SampleTensor{.shape = {5, 7}, .fill = Fill::kProbability}, absent()}}}) +
          with({{{normal({7}), offsets({}, 7), absent()}}}, {{"label_smoothing", 0.125}}) +
          with({{{normal({5, 7}), offsets({5}, 7), positive({7})}},
                {{strided({4, 3}, {1, 4}), offsets({4}, 3), absent()}},
                {{normal({5, 7}), SampleTensor{.shape = {5, 7}, .fill = Fill::kProbability}, positive({7})}}},
               {{"label_smoothing", 0.125}, {"ignore_index", int64_t{2}}}),
  };
}

Op nll_loss() {
  return {
      .signature = "nll_loss(x, target, weight? = None, *, ignore_index: int = -100, reduction: str = 'mean')",
      .doc = R"(Computes the negative log likelihood: -x at the target class, where `x` holds logarithms of
probabilities, such as log_softmax returns. The arguments are those of `cross_entropy`; `target` must hold class
indices.

>>> lucid.nll_loss(lucid.tensor([[-1., -2.], [-3., -4.]]), lucid.tensor([0, 1]))
tensor(2.5000))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        check_class_weight(call, 2, class_shape(call)[1]);
        check_classes(call, 1);
        return {{call.dtype(0), reduction_of(call) == Reduction::kNone ? example_shape(call) : Dims{}}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Dims shape = class_shape(call);
        const Value x = e.reshape(in[0], shape);
        const Targets targets(e, call, e.reshape(in[1], Dims{shape[0], shape[2]}), in[2], x.dtype());
        const Value costs = e.where(targets.is_counted, e.mul(e.gather(x, 1, targets.classes), targets.weight), 0);
        const Value losses = e.neg(costs);
        switch (reduction_of(call)) {
          case Reduction::kMean:
            return {e.div(e.sum(losses), e.sum(targets.weight))};
          case Reduction::kSum:
            return {e.sum(losses)};
          default:
            return {e.reshape(losses, example_shape(call))};
        }
      },
      .bounds = bounds_of_target,
      .samples = with_reductions({{{normal({5, 7}), offsets({5}, 7), absent()}},
                                  {{normal({2, 3, 4, 5}), offsets({2, 4, 5}, 3), positive({3})}}}) +
                 std::vector<Sample>{{{normal({7}), offsets({}, 7), absent()}}} +
                 with({{{normal({5, 7}), offsets({5}, 7), positive({7})}}}, {{"ignore_index", int64_t{2}}}),
  };
}

/// Reshapes [classes] to [batch, classes]; keeps [batch, classes].
Value as_rows(Emitter& e, const Value& value) { return value.rank() == 1 ? e.unsqueeze(value, 0) : value; }

void check_rows(const Call& call) {
  if (call.rank(0) != 1 && call.rank(0) != 2)
    throw ValueError("{}: x must be [classes] or [batch, classes], got {}", call.name(),
                     to_string(call.operand(0).type()));
}

/// Losses [batch], reduced, without the batch dimension that as_rows added.
Value reduced_rows(Emitter& e, const Call& call, const Value& losses) {
  return reduced_losses(e, call, call.rank(0) == 1 ? e.reshape(losses, Dims{}) : losses);
}

Op multi_margin_loss() {
  return {
      .signature =
          "multi_margin_loss(x, target, p: int = 1, margin: float = 1.0, weight? = None, *, reduction: str = "
          "'mean')",
      .doc = R"(Computes the mean over the classes of max(0, margin - x[target] + x[class]) ** p, where the target
class itself counts as 0. `x` is [batch, classes] or [classes], `target` holds i64 class indices, and `p` is 1 or 2.
`weight` has one factor for each class; that of the target class multiplies the loss. `reduction` is 'mean', 'sum'
or 'none', which returns the loss of each example.

>>> lucid.multi_margin_loss(lucid.tensor([[0.1, 0.2, 0.4, 0.8]]), lucid.tensor([3]))
tensor(0.3250))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        check_rows(call);
        check_classes(call, 1);
        check_class_weight(call, 2, call.shape(0).back());
        if (call.integer("p") != 1 && call.integer("p") != 2)
          throw ValueError("multi_margin_loss: p must be 1 or 2, got {}", call.integer("p"));
        return {{call.dtype(0), reduction_of(call) == Reduction::kNone ? example_shape(call) : Dims{}}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value x = as_rows(e, in[0]);
        const Value target = e.reshape(in[1], Dims{x.size(0), 1});
        const Value right = e.gather(x, 1, target);
        Value costs = e.clamp(e.add(e.sub(x, right), call.real("margin")), 0);
        if (call.integer("p") == 2) costs = e.mul(costs, costs);
        if (in[2]) costs = e.mul(costs, e.unsqueeze(e.index_select(in[2], 0, e.reshape(target, Dims{-1})), 1));
        costs = e.where(e.eq(e.iota(x.shape(), 1), target), 0, costs);
        return {reduced_rows(e, call, e.div(e.sum(costs, Dims{1}), x.size(1)))};
      },
      .bounds = bounds_of_target,
      .samples = with_reductions({{{normal({5, 7}), offsets({5}, 7), absent()}}}) +
                 with({{{normal({7}), offsets({}, 7), absent()}}, {{normal({5, 7}), offsets({5}, 7), positive({7})}}},
                      {{"p", int64_t{2}}, {"margin", 0.5}}),
  };
}

Op multilabel_margin_loss() {
  return {
      .signature = "multilabel_margin_loss(x, target, *, reduction: str = 'mean')",
      .doc =
          R"(Computes the sum of max(0, 1 - x[i] + x[j]) over all pairs of a target class i and another class j
that is not a target, divided by the number of classes. `x` is [batch, classes] or [classes]; `target`, of the same
shape, lists the i64 indices of the target classes before its first -1. `reduction` is 'mean', 'sum' or 'none',
which returns the loss of each example.

>>> lucid.multilabel_margin_loss(lucid.tensor([[0.1, 0.2, 0.4, 0.8]]), lucid.tensor([[3, 0, -1, 1]]))
tensor(0.8500))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        check_rows(call);
        check_index_dtype(call, 1);
        if (call.shape(1) != call.shape(0))
          throw ValueError("multilabel_margin_loss: target must have the shape of x {}, got {}",
                           to_string(call.operand(0).type()), to_string(call.operand(1).type()));
        return {{call.dtype(0), reduction_of(call) == Reduction::kNone ? example_shape(call) : Dims{}}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value x = as_rows(e, in[0]);
        const Value target = as_rows(e, in[1]);
        const Value listed = e.eq(e.cumprod(e.cast(e.ne(target, -1), Dtype::kI64), 1), 1);
        const Value classes = e.where(listed, target, 0);
        const Value count = e.scatter_add(e.full(x.shape(), 0, Dtype::kI64), 1, classes, e.cast(listed, Dtype::kI64));
        const Value is_wrong = e.eq(count, 0);
        const Value right = e.unsqueeze(e.gather(x, 1, classes), 2);
        const Value costs = e.clamp(e.add(e.sub(e.unsqueeze(x, 1), right), 1), 0);
        const Value pairs = e.logical_and(e.unsqueeze(listed, 2), e.unsqueeze(is_wrong, 1));
        const Value sums = e.sum(e.where(pairs, costs, 0), Dims{1, 2});
        return {reduced_rows(e, call, e.div(sums, x.size(1)))};
      },
      .samples = with_reductions({{{normal({5, 7}), offsets({5, 7}, 7)}}, {{normal({7}), offsets({7}, 7)}}}),
  };
}

Op multilabel_soft_margin_loss() {
  return {
      .signature = "multilabel_soft_margin_loss(x, target, weight? = None, *, reduction: str = 'mean')",
      .doc = R"(Computes the mean of `binary_cross_entropy_with_logits` over the last dimension, where `weight`
multiplies the losses before the mean. `reduction` is 'mean', 'sum' or 'none', which returns the loss of each
example.

>>> lucid.multilabel_soft_margin_loss(lucid.tensor([[0., 0.]]), lucid.tensor([[1., 0.]]))
tensor(0.6931))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Operand weight = in[2] ? Operand(in[2]) : Operand();
        const Value costs = e.binary_cross_entropy_with_logits(in[0], in[1], weight, Operand(), "none");
        return {reduced_losses(e, call, e.mean(costs, Dims{-1}))};
      },
      .samples = with_reductions(
          {{{normal({5, 7}), SampleTensor{.shape = {5, 7}, .fill = Fill::kProbability}, absent()}},
           {{normal({5, 7}), SampleTensor{.shape = {5, 7}, .fill = Fill::kProbability}, positive({7})}}}),
  };
}

}  // namespace

void add_class_loss_ops(std::vector<Op>& ops) {
  for (auto make : {class_loss, class_loss_backward, cross_entropy, nll_loss, multi_margin_loss, multilabel_margin_loss,
                    multilabel_soft_margin_loss})
    ops.push_back(make());
}

}  // namespace lucid
