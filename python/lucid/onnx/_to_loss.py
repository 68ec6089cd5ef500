"""Export of losses and distances."""

from __future__ import annotations

import math

from .. import _core
from ._call import Call, function
from ._to_reduce import p_norm


def _reduced(c: Call, loss: str) -> str:
    match c["reduction"]:
        case "mean":
            return c.b.reduce("ReduceMean", loss, None, False)
        case "sum":
            return c.b.reduce("ReduceSum", loss, None, False)
        case "batchmean":
            total = c.b.reduce("ReduceSum", loss, None, False)
            return c.b("Div", total, c.scalar(c.sizes()[0] if c.rank() else 1))
    return loss


def _difference(c: Call) -> str:
    return c.b("Sub", c.x(0, c.dtype), c.x(1, c.dtype))


@function("mse_loss")
def _mse(c: Call) -> str:
    difference = _difference(c)
    return _reduced(c, c.b("Mul", difference, difference))


@function("l1_loss")
def _l1(c: Call) -> str:
    return _reduced(c, c.b("Abs", _difference(c)))


@function("smooth_l1_loss", "huber_loss")
def _smooth(c: Call) -> str:
    difference = c.b("Abs", _difference(c))
    bound = c["beta"] if c.op == "smooth_l1_loss" else c["delta"]
    if bound == 0:
        return _reduced(c, difference)
    half = c.b("Mul", c.b("Mul", difference, difference), c.scalar(0.5))
    line = c.b("Sub", difference, c.scalar(bound / 2))
    if c.op == "smooth_l1_loss":
        half = c.b("Div", half, c.scalar(bound))
    else:
        line = c.b("Mul", line, c.scalar(bound))
    return _reduced(c, c.b("Where", c.b("Less", difference, c.scalar(bound)), half, line))


@function("soft_margin_loss")
def _soft_margin(c: Call) -> str:
    return _reduced(c, c.b("Softplus", c.b("Neg", c.b("Mul", c.x(0, c.dtype), c.x(1, c.dtype)))))


@function("binary_cross_entropy")
def _bce(c: Call) -> str:
    x, target = c.x(0, c.dtype), c.x(1, c.dtype)
    one, least = c.scalar(1), c.scalar(-100)
    for_ones = c.b("Mul", target, c.b("Max", c.b("Log", x), least))
    for_zeros = c.b("Mul", c.b("Sub", one, target), c.b("Max", c.b("Log", c.b("Sub", one, x)), least))
    loss = c.b("Neg", c.b("Add", for_ones, for_zeros))
    return _reduced(c, c.b("Mul", loss, c.x(2, c.dtype)) if c.has(2) else loss)


def _bce_with_logits(c: Call, weight: int, pos_weight: int | None) -> str:
    x, target = c.x(0, c.dtype), c.x(1, c.dtype)
    one = c.scalar(1)
    softplus = c.b("Softplus", c.b("Neg", x))
    factor = c.b("Add", c.b("Neg", target), one)
    if pos_weight is not None and c.has(pos_weight):
        scale = c.b("Add", c.b("Mul", c.b("Sub", c.x(pos_weight, c.dtype), one), target), one)
        softplus = c.b("Mul", softplus, scale)
    loss = c.b("Add", c.b("Mul", factor, x), softplus)
    return c.b("Mul", loss, c.x(weight, c.dtype)) if c.has(weight) else loss


@function("binary_cross_entropy_with_logits")
def _bce_of_logits(c: Call) -> str:
    return _reduced(c, _bce_with_logits(c, 2, 3))


@function("multilabel_soft_margin_loss")
def _multilabel_soft_margin(c: Call) -> str:
    loss = _bce_with_logits(c, 2, None)
    return _reduced(c, c.b.reduce("ReduceMean", loss, [c.rank() - 1], False))


@function("kl_div")
def _kl_div(c: Call) -> str:
    x, target = c.x(0, c.dtype), c.x(1, c.dtype)
    if c["log_target"]:
        return _reduced(c, c.b("Mul", c.b("Exp", target), c.b("Sub", target, x)))
    product = c.b("Mul", target, c.b("Log", target))
    entropy = c.b("Where", c.b("Equal", target, c.scalar(0)), c.scalar(0), product)
    return _reduced(c, c.b("Sub", entropy, c.b("Mul", target, x)))


@function("poisson_nll_loss")
def _poisson(c: Call) -> str:
    x, target = c.x(0, c.dtype), c.x(1, c.dtype)
    if c["log_input"]:
        loss = c.b("Sub", c.b("Exp", x), c.b("Mul", target, x))
    else:
        loss = c.b("Sub", x, c.b("Mul", target, c.b("Log", c.b("Add", x, c.scalar(c["eps"])))))
    if c["full"]:
        entropy = c.b("Sub", c.b("Mul", target, c.b("Log", target)), target)
        circle = c.b("Mul", c.b("Log", c.b("Mul", target, c.scalar(2 * math.pi))), c.scalar(0.5))
        above = c.b("Greater", target, c.scalar(1))
        loss = c.b("Add", loss, c.b("Where", above, c.b("Add", entropy, circle), c.scalar(0)))
    return _reduced(c, loss)


@function("gaussian_nll_loss")
def _gaussian(c: Call) -> str:
    difference = _difference(c)
    var = c.b("Max", c.x(2, c.dtype), c.scalar(c["eps"]))
    loss = c.b("Add", c.b("Log", var), c.b("Div", c.b("Mul", difference, difference), var))
    loss = c.b("Mul", loss, c.scalar(0.5))
    if c["full"]:
        loss = c.b("Add", loss, c.scalar(0.5 * math.log(2 * math.pi)))
    return _reduced(c, loss)


def _picked(c: Call, x: str, classes: int) -> tuple[str, str, str]:
    """The elements at the target classes, the classes with 0 for ignored ones, and which are kept."""
    target = c.x(1, _core.int64)
    kept = c.b("Not", c.b("Equal", target, c.scalar(c["ignore_index"], _core.int64)))
    target = c.b("Where", kept, target, c.scalar(0, _core.int64))
    picked = c.b("GatherElements", x, c.b.unsqueeze(target, [classes]), axis=classes)
    return c.b.squeeze(picked, [classes]), target, kept


@function("nll_loss", "cross_entropy", "class_loss")
def _class_loss(c: Call) -> str | list[str]:
    dim = 0 if c.rank() == 1 else 1
    x = c.x(0, c.dtype)
    scores = x if c.op == "nll_loss" else c.b("LogSoftmax", x, axis=dim)
    smoothing = 0.0 if c.op == "nll_loss" else c["label_smoothing"]
    classes = c.sizes()[dim]
    if c.value(1).dtype not in (_core.int64, _core.int32, _core.uint8):
        return _soft_targets(c, scores, dim, classes, smoothing)
    picked, target, kept = _picked(c, scores, dim)
    factor = c.b.cast(kept, c.dtype)
    if c.has(2):
        factor = c.b("Mul", factor, c.b("Gather", c.x(2, c.dtype), target))
    loss = c.b("Neg", c.b("Mul", picked, factor))
    total = c.b.reduce("ReduceSum", factor, None, False)
    if smoothing:
        loss = _smoothed(c, scores, loss, kept, dim, classes, smoothing)
    if c["reduction"] != "none":
        loss = c.b.reduce("ReduceSum", loss, None, False)
        if c["reduction"] == "mean":
            loss = c.b("Div", loss, total)
    if c.op != "class_loss":
        return loss
    parts = [loss, c.b.reduce("ReduceLogSumExp", x, [dim], True), total]
    parts = [c.b.reshape(part, c.fixed(kind.shape)) for part, kind in zip(parts, c.results)]
    return [part if kind.dtype is c.dtype else c.b.cast(part, kind.dtype) for part, kind in zip(parts, c.results)]


def _smoothed(c: Call, scores: str, loss: str, kept: str, dim: int, classes: int, smoothing: float) -> str:
    spread = scores
    if c.has(2):
        shape = [1] * c.rank()
        shape[dim] = classes
        spread = c.b("Mul", scores, c.b.reshape(c.x(2, c.dtype), shape))
    even = c.b("Neg", c.b.reduce("ReduceSum", spread, [dim], False))
    even = c.b("Mul", even, c.b.cast(kept, c.dtype))
    return c.b("Add", c.b("Mul", loss, c.scalar(1 - smoothing)), c.b("Mul", even, c.scalar(smoothing / classes)))


def _soft_targets(c: Call, scores: str, dim: int, classes: int, smoothing: float) -> str:
    target = c.x(1, c.dtype)
    if smoothing:
        target = c.b("Add", c.b("Mul", target, c.scalar(1 - smoothing)), c.scalar(smoothing / classes))
    products = c.b("Mul", scores, target)
    if c.has(2):
        shape = [1] * c.rank()
        shape[dim] = classes
        products = c.b("Mul", products, c.b.reshape(c.x(2, c.dtype), shape))
    return _reduced(c, c.b("Neg", c.b.reduce("ReduceSum", products, [dim], False)))


@function("multi_margin_loss")
def _multi_margin(c: Call) -> str:
    classes = c.rank() - 1
    count = c.sizes()[classes]
    x, target = c.x(0, c.dtype), c.x(1, _core.int64)
    place = c.b.unsqueeze(target, [classes]) if c.rank(1) == classes else target
    picked = c.b("GatherElements", x, place, axis=classes)
    margins = c.b("Relu", c.b("Add", c.b("Sub", x, picked), c.scalar(c["margin"])))
    if c["p"] == 2:
        margins = c.b("Mul", margins, margins)
    if c.has(2):
        margins = c.b("Mul", margins, c.b("Gather", c.x(2, c.dtype), place))
    others = c.b("Not", c.b("Equal", place, c.b.ints(range(count))))
    margins = c.b("Where", others, margins, c.scalar(0))
    loss = c.b("Mul", c.b.reduce("ReduceSum", margins, [classes], False), c.scalar(1 / count))
    return _reduced(c, loss)


@function("multilabel_margin_loss")
def _multilabel_margin(c: Call) -> str:
    """Pairs of a listed class, in a dimension before the last, and another class, in the last dimension."""
    last = c.rank() - 1
    count = c.sizes()[last]
    x, target = c.x(0, c.dtype), c.x(1, _core.int64)
    ended = c.b.cast(c.b("Less", target, c.scalar(0, _core.int64)), _core.int32)
    listed = c.b("Equal", c.b("CumSum", ended, c.scalar(last, _core.int64)), c.scalar(0, _core.int32))
    place = c.b("Where", listed, target, c.scalar(0, _core.int64))
    own = c.b("GatherElements", x, place, axis=last)
    hit = c.b("Equal", c.b.unsqueeze(place, [last + 1]), c.b.ints(range(count)))
    hit = c.b("And", hit, c.b.unsqueeze(listed, [last + 1]))
    hits = c.b.reduce("ReduceSum", c.b.cast(hit, c.dtype), [last], False)
    free = c.b("Equal", hits, c.scalar(0))
    margins = c.b("Sub", c.b.unsqueeze(x, [last]), c.b.unsqueeze(own, [last + 1]))
    margins = c.b("Relu", c.b("Add", margins, c.scalar(1)))
    counted = c.b("And", c.b.unsqueeze(listed, [last + 1]), c.b.unsqueeze(free, [last]))
    margins = c.b("Where", counted, margins, c.scalar(0))
    loss = c.b("Mul", c.b.reduce("ReduceSum", margins, [last, last + 1], False), c.scalar(1 / count))
    return _reduced(c, loss)


def _cosine(c: Call, dim: int, eps: float) -> str:
    """The cosine along a dimension of the broadcast operands, counted from the end."""
    x, y = c.x(0, c.dtype), c.x(1, c.dtype)
    dot = c.b.reduce("ReduceSum", c.b("Mul", x, y), [dim], False)
    norms = []
    for each in (x, y):
        size = c.b("Sqrt", c.b.reduce("ReduceSum", c.b("Mul", each, each), [dim], False))
        norms.append(c.b("Max", size, c.scalar(eps)))
    return c.b("Div", dot, c.b("Mul", *norms))


@function("cosine_similarity")
def _cosine_similarity(c: Call) -> str:
    rank = max(c.rank(0), c.rank(1))
    return _cosine(c, c.dim(rank=rank) - rank, c["eps"])


def _distance(c: Call, x: str, y: str, p: float, eps: float, keepdim: bool) -> str:
    return p_norm(c, c.b("Add", c.b("Sub", x, y), c.scalar(eps)), p, [-1], keepdim)


@function("pairwise_distance")
def _pairwise_distance(c: Call) -> str:
    return _distance(c, c.x(0, c.dtype), c.x(1, c.dtype), c["p"], c["eps"], c["keepdim"])


@function("triplet_margin_loss")
def _triplet(c: Call) -> str:
    anchor, positive, negative = (c.x(position, c.dtype) for position in range(3))
    near = _distance(c, anchor, positive, c["p"], c["eps"], False)
    far = _distance(c, anchor, negative, c["p"], c["eps"], False)
    if c["swap"]:
        far = c.b("Min", far, _distance(c, positive, negative, c["p"], c["eps"], False))
    return _reduced(c, c.b("Relu", c.b("Add", c.b("Sub", near, far), c.scalar(c["margin"]))))


@function("margin_ranking_loss")
def _margin_ranking(c: Call) -> str:
    product = c.b("Mul", c.b("Neg", c.x(2, c.dtype)), _difference(c))
    return _reduced(c, c.b("Relu", c.b("Add", product, c.scalar(c["margin"]))))


@function("hinge_embedding_loss")
def _hinge_embedding(c: Call) -> str:
    x, target = c.x(0, c.dtype), c.x(1, c.dtype)
    far = c.b("Relu", c.b("Sub", c.scalar(c["margin"]), x))
    zero = c.scalar(0)
    for_ones = c.b("Where", c.b("Equal", target, c.scalar(-1)), zero, x)
    for_others = c.b("Where", c.b("Equal", target, c.scalar(1)), zero, far)
    return _reduced(c, c.b("Add", for_ones, for_others))


@function("cosine_embedding_loss")
def _cosine_embedding(c: Call) -> str:
    x, y, target = c.x(0, c.dtype), c.x(1, c.dtype), c.x(2, c.dtype)
    dot = c.b.reduce("ReduceSum", c.b("Mul", x, y), [-1], False)
    tiny = 1e-12
    squares = [c.b.reduce("ReduceSum", c.b("Mul", each, each), [-1], False) for each in (x, y)]
    norms = [c.b("Add", square, c.scalar(tiny)) for square in squares]
    cosine = c.b("Div", dot, c.b("Sqrt", c.b("Mul", *norms)))
    near = c.b("Sub", c.scalar(1), cosine)
    far = c.b("Relu", c.b("Sub", cosine, c.scalar(c["margin"])))
    loss = c.b("Where", c.b("Equal", target, c.scalar(1)), near, c.scalar(0))
    return _reduced(c, c.b("Where", c.b("Equal", target, c.scalar(-1)), far, loss))
