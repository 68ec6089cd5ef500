"""Reductions, scans, softmax, searches and losses of loaded models."""

from __future__ import annotations

from typing import Any

from .. import _core, _effects
from ._dtypes import FLOATS
from ._node import Node, axes_of, axis_of, created, integer, ints, ops, option, runs

_effects.pure_module()


def _axes(node: Node, x: Any, given: Any) -> list[int] | None:
    """The reduced dimensions: None means all, an empty list none. They are an attribute or an operand."""
    axes = node.get("axes") if given is None else ints(node, given, "axes")
    if axes is None or len(axes) == 0:
        return [] if node.get("noop_with_empty_axes") else None
    return axes_of(node, axes, x.ndim)


def _summed(x: Any, dims: list[int] | None, keepdim: bool) -> Any:
    """A sum in the dtype of its operand."""
    return ops["sum"](x, dims, keepdim, dtype=x.dtype if x.dtype is not _core.bool else None)


_REDUCTIONS = ("Sum", "Mean", "Prod", "Max", "Min", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")


@runs(*(f"Reduce{name}" for name in _REDUCTIONS), known=(1,))
def _reduce(node: Node, x: Any, axes: Any = None) -> Any:
    dims, keepdim = _axes(node, x, axes), bool(node.get("keepdims"))
    if dims == [] or x.ndim == 0:
        # Of each element on its own.
        op = {"ReduceL1": "abs", "ReduceL2": "abs", "ReduceLogSum": "log", "ReduceSumSquare": "square"}.get(node.op)
        return ops[op](x) if op else x
    floats = x.dtype in FLOATS
    match node.op.removeprefix("Reduce"):
        case "Sum":
            return _summed(x, dims, keepdim)
        case "Mean":
            return ops["mean"](x, dims, keepdim).to(x.dtype)
        case "Prod":
            return ops["prod"](x, dims, keepdim, dtype=x.dtype)
        case "L1" | "L2" if floats:
            return ops["norm"](x, 1.0 if node.op == "ReduceL1" else 2.0, dims, keepdim)
        case "L1":
            return _summed(ops["abs"](x), dims, keepdim)
        case "L2":
            return ops["sqrt"](_summed(ops["square"](x), dims, keepdim).to(_core.float64)).to(x.dtype)
        case "LogSum":
            return ops["log"](_summed(x, dims, keepdim)).to(x.dtype)
        case "LogSumExp":
            return ops["logsumexp"](x if floats else x.to(_core.float64), dims, keepdim).to(x.dtype)
        case "SumSquare":
            return _summed(ops["square"](x), dims, keepdim)
    return _extreme(node, x, dims, keepdim)


def _extreme(node: Node, x: Any, dims: list[int] | None, keepdim: bool) -> Any:
    if x.dtype is _core.bool:
        return ops["any" if node.op == "ReduceMax" else "all"](x, dims, keepdim)
    reduced = range(x.ndim) if dims is None else dims
    if x.numel() == 0 and any(x.shape[dim] == 0 for dim in reduced):
        # The maximum of nothing is the lowest number.
        shape = [1 if dim in reduced else size for dim, size in enumerate(x.shape) if keepdim or dim not in reduced]
        largest = node.op == "ReduceMin"
        if x.dtype in FLOATS:
            return created("full", shape, float("inf") if largest else float("-inf"), dtype=x.dtype)
        limit = {1: 8, 2: 16, 4: 32, 8: 64}[x.element_size()]
        signed = x.dtype is not _core.uint8
        top = 2 ** (limit - signed) - 1
        return created("full", shape, top if largest else (-top - 1 if signed else 0), dtype=x.dtype)
    return ops["amax" if node.op == "ReduceMax" else "amin"](x, dims, keepdim)


@runs("ArgMax", "ArgMin")
def _argmax(node: Node, x: Any) -> Any:
    axis, keepdim = node.axis(x.ndim), bool(node.get("keepdims"))
    op = ops[node.op.lower()]
    if node.get("select_last_index"):
        return ops["sub"](x.shape[axis] - 1, op(ops["flip"](x, [axis]), axis, keepdim))
    return op(x, axis, keepdim)


@runs("CumSum", "CumProd", known=(1,))
def _cumsum(node: Node, x: Any, axis: Any) -> Any:
    dim = axis_of(node, integer(node, axis, "axis"), x.ndim)
    x = ops["flip"](x, [dim]) if node.get("reverse") else x
    if node.get("exclusive"):
        first = ops["narrow"](x, dim, 0, 1)
        start = ops["zeros_like" if node.op == "CumSum" else "ones_like"](first)
        x = ops["cat"]([start, ops["narrow"](x, dim, 0, x.shape[dim] - 1)], dim)
    found = ops[node.op.lower()](x, dim, dtype=x.dtype)
    return ops["flip"](found, [dim]) if node.get("reverse") else found


@runs("TopK", known=(1,))
def _topk(node: Node, x: Any, k: Any) -> Any:
    axis, count = node.axis(x.ndim), integer(node, k, "K")
    return tuple(ops["topk"](x, count, axis, bool(node.get("largest")), bool(node.get("sorted"))))


@runs("NonZero")
def _nonzero(node: Node, x: Any) -> Any:
    return ops["permute"](ops["nonzero"](x), [1, 0])


@runs("Unique")
def _unique(node: Node, x: Any) -> Any:
    if not node.get("sorted"):
        node.unsupported("Unique without sorting")
    dim = None if node.get("axis") is None else node.axis(x.ndim)
    values, inverse, counts = ops["unique_all"](x, dim)
    inverse = inverse.reshape(-1)
    # The first place of each value: the smallest position with its number.
    places = created("arange", inverse.numel())
    last = created("full", [counts.numel()], inverse.numel(), dtype=_core.int64)
    first = ops["scatter_reduce"](last, 0, inverse, places, "amin")
    return (values, first, inverse, counts)[: node.outputs]


@runs("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def _class_loss(node: Node, x: Any, target: Any, weight: Any = None) -> Any:
    reduction = option(node, "reduction", ("none", "sum", "mean"))
    ignored = node.get("ignore_index")
    scores = ops["log_softmax"](x, 1) if node.op == "SoftmaxCrossEntropyLoss" else x
    arguments = {} if ignored is None else {"ignore_index": ignored}
    loss = ops["nll_loss"](scores, target.to(_core.int64), weight, reduction=reduction, **arguments)
    return loss if node.outputs == 1 else (loss, scores)
