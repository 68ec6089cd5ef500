// Distances and similarities of vectors, and losses based on them.

#include <algorithm>

#include "ops/loss_rules.h"

namespace lucid {
namespace {

Op cosine_similarity() {
  return {
      .signature = "cosine_similarity(x1, x2, dim: axis = 1, eps: float = 1e-08)",
      .doc =
          R"(Computes the cosine of the angle between the vectors of `x1` and `x2` along `dim`: their dot product
divided by the product of their norms, each at least `eps`. `x1` and `x2` broadcast.

>>> lucid.cosine_similarity(lucid.tensor([[3., 4.]]), lucid.tensor([[4., 3.]]))
tensor([0.9600]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Dims shape = broadcast(call.name(), in[0].shape(), in[1].shape());
        const Value x1 = e.expand(in[0], shape);
        const Value x2 = e.expand(in[1], shape);
        const Dims axis{call.axis("dim", shape.rank())};
        const auto length = [&](const Value& x) { return e.clamp(e.norm(x, 2.0, axis), call.real("eps")); };
        return {e.div(e.sum(e.mul(x1, x2), axis), e.mul(length(x1), length(x2)))};
      },
      .samples = std::vector<Sample>{{{normal({3, 19}), normal({3, 19})}}, {{normal({2, 3, 4}), normal({3, 1})}}} +
                 with({{{normal({19, 3}), normal({19, 3})}}}, {{"dim", int64_t{0}}}),
  };
}

Op pairwise_distance() {
  return {
      .signature = "pairwise_distance(x1, x2, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False)",
      .doc = R"(Computes the p-norm of x1 - x2 + eps along the last dimension, which stays with size 1 if `keepdim`.
`x1` and `x2` broadcast.

>>> lucid.pairwise_distance(lucid.tensor([[3., 0.]]), lucid.tensor([[0., 4.]]), eps=0.0)
tensor([5.]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value difference = e.add(e.sub(in[0], in[1]), call.real("eps"));
        if (difference.rank() == 0)
          throw ValueError("pairwise_distance: x1 or x2 must have at least one dimension, got {} and {}",
                           to_string(in[0].type()), to_string(in[1].type()));
        return {e.norm(difference, call.real("p"), Dims{-1}, call.flag("keepdim"))};
      },
      .samples = std::vector<Sample>{{{normal({3, 19}), normal({3, 19})}}, {{normal({19}), normal({19})}}} +
                 with({{{normal({3, 19}), normal({1, 19})}}}, {{"p", 1.0}, {"keepdim", true}}) +
                 with({{{normal({3, 5}), normal({3, 5})}}}, {{"p", 3.0}}),
  };
}

Op triplet_margin_loss() {
  return {
      .signature =
          "triplet_margin_loss(anchor, positive, negative, *, margin: float = 1.0, p: float = 2.0, eps: float = "
          "1e-06, swap: bool = False, reduction: str = 'mean')",
      .doc =
          R"(Computes max(0, margin + d(anchor, positive) - d(anchor, negative)), where d is `pairwise_distance`
with `p` and `eps`. With `swap`, d(positive, negative) replaces d(anchor, negative) where it is smaller. `reduction`
is 'mean', 'sum' or 'none', which returns the loss of each triplet.

>>> a, p, n = lucid.tensor([[0.]]), lucid.tensor([[1.]]), lucid.tensor([[1.5]])
>>> lucid.triplet_margin_loss(a, p, n)
tensor(0.5000))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const auto distance = [&](const Value& a, const Value& b) {
          return e.pairwise_distance(a, b, call.real("p"), call.real("eps"));
        };
        const Value near = distance(in[0], in[1]);
        Value far = distance(in[0], in[2]);
        if (call.flag("swap")) far = e.minimum(far, distance(in[1], in[2]));
        return {reduced_losses(e, call, e.clamp(e.add(e.sub(near, far), call.real("margin")), 0))};
      },
      .samples =
          with_reductions({{{normal({5, 7}), normal({5, 7}), normal({5, 7})}}}) +
          with({{{normal({5, 7}), normal({5, 7}), normal({5, 7})}}}, {{"margin", 2.0}, {"p", 1.0}, {"swap", true}}),
  };
}

Op margin_ranking_loss() {
  return {
      .signature = "margin_ranking_loss(x1, x2, target, *, margin: float = 0.0, reduction: str = 'mean')",
      .doc = R"(Computes max(0, margin - target * (x1 - x2)), where target 1 means that `x1` should be larger than
`x2` and -1 the opposite. The operands broadcast. `reduction` is 'mean', 'sum' or 'none', which returns the loss of
each element.

>>> lucid.margin_ranking_loss(lucid.tensor([1., 2.]), lucid.tensor([3., 1.]), lucid.tensor([1., 1.]))
tensor(1.))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value gap = e.mul(e.sub(in[1], in[0]), in[2]);
        return {reduced_losses(e, call, e.clamp(e.add(gap, call.real("margin")), 0))};
      },
      .samples = with_reductions({{{normal({19}), normal({19}), nonzero({19})}}}) +
                 with({{{normal({3, 5}), normal({3, 5}), nonzero({3, 5})}}}, {{"margin", 0.5}}),
  };
}

/// Targets 1 and -1, which tell whether two inputs are similar.
SampleTensor signs(Dims shape) { return {.shape = std::move(shape), .fill = Fill::kSign, .dtype = Dtype::kI64}; }

Op hinge_embedding_loss() {
  return {
      .signature = "hinge_embedding_loss(x, target, *, margin: float = 1.0, reduction: str = 'mean')",
      .doc = R"(Computes `x` where `target` is 1, and max(0, margin - x) where it is -1. `x` and `target` broadcast.
`reduction` is 'mean', 'sum' or 'none', which returns the loss of each element.

>>> lucid.hinge_embedding_loss(lucid.tensor([0.5, 0.25]), lucid.tensor([1., -1.]), reduction="none")
tensor([0.5000, 0.7500]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        // Like PyTorch for targets other than 1 and -1: both parts are added.
        const Value apart = e.where(e.ne(in[1], 1), e.clamp(e.sub(call.real("margin"), in[0]), 0), 0);
        const Value near = e.where(e.ne(in[1], -1), in[0], 0);
        return {reduced_losses(e, call, e.add(apart, near))};
      },
      .samples = with_reductions({{{normal({3, 19}), signs({3, 19})}}}) +
                 with({{{normal({19}), signs({19})}}}, {{"margin", 0.5}}),
  };
}

Op cosine_embedding_loss() {
  return {
      .signature = "cosine_embedding_loss(x1, x2, target, *, margin: float = 0.0, reduction: str = 'mean')",
      .doc = R"(Computes 1 - c where `target` is 1, and max(0, c - margin) where it is -1, where c is the cosine of
the angle between the vectors of `x1` and `x2` along the last dimension. `target` has one element for each pair of
vectors. `reduction` is 'mean', 'sum' or 'none', which returns the loss of each pair.

>>> x = lucid.tensor([[1., 0.], [1., 0.]])
>>> lucid.cosine_embedding_loss(x, x, lucid.tensor([1., -1.]), reduction="none")
tensor([0., 1.]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        constexpr double kEps = 1e-12;
        const Dims axis{-1};
        if (in[2].rank() + 1 != std::max(in[0].rank(), in[1].rank()))
          throw ValueError(
              "cosine_embedding_loss: target must have one element for each pair of vectors, got {}, {} and {}",
              to_string(in[0].type()), to_string(in[1].type()), to_string(in[2].type()));
        const Value products = e.sum(e.mul(in[0], in[1]), axis);
        const auto square = [&](const Value& x) { return e.add(e.sum(e.mul(x, x), axis), kEps); };
        const Value cosine = e.div(products, e.sqrt(e.mul(square(in[0]), square(in[1]))));
        const Value near = e.where(e.eq(in[2], 1), e.sub(1, cosine), 0);
        const Value apart = e.where(e.eq(in[2], -1), e.clamp(e.sub(cosine, call.real("margin")), 0), 0);
        return {reduced_losses(e, call, e.add(near, apart))};
      },
      .samples = with_reductions({{{normal({5, 7}), normal({5, 7}), signs({5})}}}) +
                 with({{{normal({7}), normal({7}), signs({})}}}, {{"margin", 0.5}}),
  };
}

}  // namespace

void add_distance_loss_ops(std::vector<Op>& ops) {
  for (auto make : {cosine_similarity, pairwise_distance, triplet_margin_loss, margin_ranking_loss,
                    hinge_embedding_loss, cosine_embedding_loss})
    ops.push_back(make());
}

}  // namespace lucid
