"""Export of losses and distances."""

from __future__ import annotations

import math

from .. import _core
from ._builder import Value, squared
from ._call import Call, function
from ._to_reduce import p_norm


def _reduced(c: Call, loss: Value) -> Value:
    kind = {"mean": "Mean", "sum": "Sum", "batchmean": "Sum"}.get(c["reduction"])
    found = loss.reduce(kind) if kind else loss
    return found / (c.sizes()[0] if c.rank() else 1) if c["reduction"] == "batchmean" else found


def _difference(c: Call) -> Value:
    return c.x(0) - c.x(1)


function(
    mse_loss=lambda c: _reduced(c, squared(_difference(c))),
    l1_loss=lambda c: _reduced(c, _difference(c)("Abs")),
    soft_margin_loss=lambda c: _reduced(c, (-(c.x(0) * c.x(1)))("Softplus")),
    binary_cross_entropy_with_logits=lambda c: _reduced(c, _bce_with_logits(c, 3)),
    multilabel_soft_margin_loss=lambda c: _reduced(c, _bce_with_logits(c, None).reduce("Mean", [c.rank() - 1])),
    pairwise_distance=lambda c: _distance(c, c.x(0), c.x(1), c["keepdim"]),
    margin_ranking_loss=lambda c: _reduced(c, (-c.x(2) * _difference(c) + c["margin"])("Relu")),
)


@function("smooth_l1_loss", "huber_loss")
def _smooth(c: Call) -> Value:
    difference = _difference(c)("Abs")
    bound = c["beta"] if c.op == "smooth_l1_loss" else c["delta"]
    if bound == 0:
        return _reduced(c, difference)
    half = squared(difference) * 0.5
    line = difference - bound / 2
    if c.op == "smooth_l1_loss":
        half = half / bound
    else:
        line = line * bound
    return _reduced(c, (difference < bound).where(half, line))


@function("binary_cross_entropy")
def _bce(c: Call) -> Value:
    x, target = c.xs(2)
    one, least = c.scalar(1), c.scalar(-100)
    for_ones = target * x("Log")("Max", least)
    for_zeros = (one - target) * (one - x)("Log")("Max", least)
    loss = -(for_ones + for_zeros)
    return _reduced(c, loss * c.x(2) if c.has(2) else loss)


def _bce_with_logits(c: Call, pos_weight: int | None) -> Value:
    x, target = c.xs(2)
    one = c.scalar(1)
    softplus = (-x)("Softplus")
    factor = -target + one
    if pos_weight is not None and c.has(pos_weight):
        softplus = softplus * ((c.x(pos_weight) - one) * target + one)
    loss = factor * x + softplus
    return loss * c.x(2) if c.has(2) else loss


@function("kl_div")
def _kl_div(c: Call) -> Value:
    x, target = c.xs(2)
    if c["log_target"]:
        return _reduced(c, target("Exp") * (target - x))
    product = target * target("Log")
    entropy = target.equals(0).where(0, product)
    return _reduced(c, entropy - target * x)


@function("poisson_nll_loss")
def _poisson(c: Call) -> Value:
    x, target = c.xs(2)
    loss = x("Exp") - target * x if c["log_input"] else x - target * (x + c["eps"])("Log")
    if c["full"]:
        entropy = target * target("Log") - target
        circle = (target * (2 * math.pi))("Log") * 0.5
        loss = loss + (target > 1).where(entropy + circle, 0)
    return _reduced(c, loss)


@function("gaussian_nll_loss")
def _gaussian(c: Call) -> Value:
    difference = _difference(c)
    var = c.x(2)("Max", c["eps"])
    loss = (var("Log") + squared(difference) / var) * 0.5
    return _reduced(c, loss + 0.5 * math.log(2 * math.pi) if c["full"] else loss)


@function("nll_loss", "cross_entropy", "class_loss")
def _class_loss(c: Call) -> Value | list[Value]:
    dim = 0 if c.rank() == 1 else 1
    x = c.x()
    scores = x if c.op == "nll_loss" else x("LogSoftmax", axis=dim)
    smoothing = 0.0 if c.op == "nll_loss" else c["label_smoothing"]
    classes = c.sizes()[dim]
    if c.value(1).dtype not in (_core.int64, _core.int32, _core.uint8):
        return _soft_targets(c, scores, dim, classes, smoothing)
    target = c.x(1, _core.int64)
    kept = ~target.equals(c["ignore_index"])
    # Ignored targets become class 0.
    target = kept.where(target, 0)
    picked = scores("GatherElements", target.unsqueeze(dim), axis=dim).squeeze(dim)
    factor = kept.cast(c.dtype)
    if c.has(2):
        factor = factor * c.x(2)("Gather", target)
    loss = -(picked * factor)
    total = factor.reduce("Sum")
    if smoothing:
        even = -_weighted(c, scores, dim, classes).reduce("Sum", [dim]) * kept.cast(c.dtype)
        loss = loss * (1 - smoothing) + even * (smoothing / classes)
    if c["reduction"] != "none":
        loss = loss.reduce("Sum")
        if c["reduction"] == "mean":
            loss = loss / total
    if c.op != "class_loss":
        return loss
    parts = [loss, x.reduce("LogSumExp", [dim], True), total]
    return [part.reshape(c.fixed(kind.shape)) for part, kind in zip(parts, c.results)]


def _weighted(c: Call, scores: Value, dim: int, classes: int) -> Value:
    """The scores, times the weights of the classes if there are any."""
    if not c.has(2):
        return scores
    shape = [1] * c.rank()
    shape[dim] = classes
    return scores * c.x(2).reshape(shape)


def _soft_targets(c: Call, scores: Value, dim: int, classes: int, smoothing: float) -> Value:
    target = c.x(1)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    return _reduced(c, -_weighted(c, scores * target, dim, classes).reduce("Sum", [dim]))


@function("multi_margin_loss")
def _multi_margin(c: Call) -> Value:
    classes = c.rank() - 1
    count = c.sizes()[classes]
    x, target = c.x(), c.x(1, _core.int64)
    place = target.unsqueeze(classes) if c.rank(1) == classes else target
    picked = x("GatherElements", place, axis=classes)
    margins = (x - picked + c["margin"])("Relu")
    if c["p"] == 2:
        margins = squared(margins)
    if c.has(2):
        margins = margins * c.x(2)("Gather", place)
    others = ~place.equals(c.b.ints(range(count)))
    return _reduced(c, others.where(margins, 0).reduce("Sum", [classes]) * (1 / count))


@function("multilabel_margin_loss")
def _multilabel_margin(c: Call) -> Value:
    """Pairs of a listed class, in a dimension before the last, and another class, in the last dimension."""
    last = c.rank() - 1
    count = c.sizes()[last]
    x, target = c.x(), c.x(1, _core.int64)
    ended = (target < 0).cast(_core.int32)
    listed = ended("CumSum", c.scalar(last, _core.int64)).equals(0)
    place = listed.where(target, 0)
    own = x("GatherElements", place, axis=last)
    hit = place.unsqueeze(last + 1).equals(c.b.ints(range(count)))
    hit = hit & listed.unsqueeze(last + 1)
    free = hit.cast(c.dtype).reduce("Sum", [last]).equals(0)
    margins = (x.unsqueeze(last) - own.unsqueeze(last + 1) + 1)("Relu")
    counted = listed.unsqueeze(last + 1) & free.unsqueeze(last)
    return _reduced(c, counted.where(margins, 0).reduce("Sum", [last, last + 1]) * (1 / count))


@function("cosine_similarity")
def _cosine_similarity(c: Call) -> Value:
    """The dimension is one of the broadcast operands, counted from the end."""
    rank = max(c.rank(0), c.rank(1))
    dim = c.dim(rank=rank) - rank
    x, y = c.xs(2)
    dot = (x * y).reduce("Sum", [dim])
    norms = [squared(each).reduce("Sum", [dim])("Sqrt")("Max", c["eps"]) for each in (x, y)]
    return dot / (norms[0] * norms[1])


def _distance(c: Call, x: Value, y: Value, keepdim: bool = False) -> Value:
    return p_norm(c, x - y + c["eps"], c["p"], [-1], keepdim)


@function("triplet_margin_loss")
def _triplet(c: Call) -> Value:
    anchor, positive, negative = c.xs(3)
    near, far = _distance(c, anchor, positive), _distance(c, anchor, negative)
    if c["swap"]:
        far = far("Min", _distance(c, positive, negative))
    return _reduced(c, (near - far + c["margin"])("Relu"))


@function("hinge_embedding_loss")
def _hinge_embedding(c: Call) -> Value:
    x, target = c.xs(2)
    far = (c.scalar(c["margin"]) - x)("Relu")
    zero = c.scalar(0)
    for_ones = target.equals(-1).where(zero, x)
    return _reduced(c, for_ones + target.equals(1).where(zero, far))


@function("cosine_embedding_loss")
def _cosine_embedding(c: Call) -> Value:
    x, y, target = c.xs(3)
    dot = (x * y).reduce("Sum", [-1])
    squares = [squared(each).reduce("Sum", [-1]) for each in (x, y)]
    norms = [square + 1e-12 for square in squares]
    cosine = dot / (norms[0] * norms[1])("Sqrt")
    near = c.scalar(1) - cosine
    far = (cosine - c["margin"])("Relu")
    loss = target.equals(1).where(near, 0)
    return _reduced(c, target.equals(-1).where(far, loss))
