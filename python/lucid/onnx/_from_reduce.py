"""Reductions, scans, softmax, searches and losses of loaded models."""

from __future__ import annotations

from typing import Any

from .. import _core, _effects
from ._dtypes import FLOATS
from ._node import Node, axes_of, axis_of, created, integer, ints, ops, option, runs, tensor

_effects.pure_module()


def _axes(node: Node, x: Any, given: Any) -> list[int] | None:
    """The reduced dimensions: None means all, an empty list none. They are an attribute or an operand."""
    axes = node.get("axes") if given is None else ints(node, given, "axes")
    if axes is None or len(axes) == 0:
        if node.get("noop_with_empty_axes", 0):
            return []
        return None
    return axes_of(node, axes, x.ndim)


def _summed(x: Any, dims: list[int] | None, keepdim: bool) -> Any:
    """A sum in the dtype of its operand."""
    return ops["sum"](x, dims, keepdim, dtype=x.dtype if x.dtype is not _core.bool else None)


@runs("ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2")
@runs("ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
def _reduce(node: Node, x: Any, axes: Any = None) -> Any:
    x = tensor(x)
    dims, keepdim = _axes(node, x, axes), bool(node.get("keepdims", 1))
    if dims == [] or x.ndim == 0:
        return _of_one(node, x)
    match node.op:
        case "ReduceSum":
            return _summed(x, dims, keepdim)
        case "ReduceMean":
            return ops["mean"](x, dims, keepdim).to(x.dtype)
        case "ReduceProd":
            return ops["prod"](x, dims, keepdim, dtype=x.dtype)
        case "ReduceMax" | "ReduceMin":
            return _extreme(node, x, dims, keepdim)
        case "ReduceL1" | "ReduceL2" if x.dtype in FLOATS:
            return ops["norm"](x, 1.0 if node.op == "ReduceL1" else 2.0, dims, keepdim)
        case "ReduceL1":
            return _summed(ops["abs"](x), dims, keepdim)
        case "ReduceL2":
            return ops["sqrt"](_summed(ops["square"](x), dims, keepdim).to(_core.float64)).to(x.dtype)
        case "ReduceLogSum":
            return ops["log"](_summed(x, dims, keepdim)).to(x.dtype)
        case "ReduceLogSumExp" if x.dtype in FLOATS:
            return ops["logsumexp"](x, dims, keepdim)
        case "ReduceLogSumExp":
            return ops["logsumexp"](x.to(_core.float64), dims, keepdim).to(x.dtype)
    return _summed(ops["square"](x), dims, keepdim)


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


def _of_one(node: Node, x: Any) -> Any:
    """A reduction of each element on its own."""
    match node.op:
        case "ReduceL1" | "ReduceL2":
            return ops["abs"](x)
        case "ReduceLogSum":
            return ops["log"](x)
        case "ReduceSumSquare":
            return ops["square"](x)
    return x


@runs("ArgMax", "ArgMin")
def _argmax(node: Node, x: Any) -> Any:
    x = tensor(x)
    axis, keepdim = axis_of(node, node.get("axis", 0), x.ndim), bool(node.get("keepdims", 1))
    op = ops["argmax" if node.op == "ArgMax" else "argmin"]
    if node.get("select_last_index", 0):
        found = op(ops["flip"](x, [axis]), axis, keepdim)
        return ops["sub"](x.shape[axis] - 1, found)
    return op(x, axis, keepdim)


@runs("CumSum", "CumProd")
def _cumsum(node: Node, x: Any, axis: Any) -> Any:
    x = tensor(x)
    dim = axis_of(node, integer(node, axis, "axis"), x.ndim)
    reverse = node.get("reverse", 0)
    name = "cumsum" if node.op == "CumSum" else "cumprod"
    x = ops["flip"](x, [dim]) if reverse else x
    if node.get("exclusive", 0):
        size = x.shape[dim]
        first = ops["narrow"](x, dim, 0, 1)
        start = ops["zeros_like"](first) if name == "cumsum" else ops["ones_like"](first)
        x = ops["cat"]([start, ops["narrow"](x, dim, 0, size - 1)], dim)
    found = ops[name](x, dim, dtype=x.dtype)
    return ops["flip"](found, [dim]) if reverse else found


@runs("Softmax", "LogSoftmax")
def _softmax(node: Node, x: Any) -> Any:
    x = tensor(x)
    axis = axis_of(node, node.get("axis", -1), x.ndim)
    return ops["softmax" if node.op == "Softmax" else "log_softmax"](x, axis)


@runs("TopK")
def _topk(node: Node, x: Any, k: Any) -> Any:
    x = tensor(x)
    axis = axis_of(node, node.get("axis", -1), x.ndim)
    count = integer(node, k, "K")
    return tuple(ops["topk"](x, count, axis, bool(node.get("largest", 1)), bool(node.get("sorted", 1))))


@runs("NonZero")
def _nonzero(node: Node, x: Any) -> Any:
    return ops["permute"](ops["nonzero"](tensor(x)), [1, 0])


@runs("Unique")
def _unique(node: Node, x: Any) -> Any:
    x = tensor(x)
    if not node.get("sorted", 1):
        node.unsupported("Unique without sorting")
    axis = node.get("axis")
    dim = None if axis is None else axis_of(node, axis, x.ndim)
    values, inverse, counts = ops["unique_all"](x, dim)
    inverse = inverse.reshape(-1)
    # The first place of each value: the smallest position with its number.
    places = created("arange", inverse.numel())
    last = created("full", [counts.numel()], inverse.numel(), dtype=_core.int64)
    first = ops["scatter_reduce"](last, 0, inverse, places, "amin")
    return (values, first, inverse, counts)[: node.outputs]


@runs("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def _class_loss(node: Node, x: Any, target: Any, weight: Any = None) -> Any:
    x, target = tensor(x), tensor(target)
    reduction = option(node, "reduction", "mean", ("none", "sum", "mean"))
    ignored = node.get("ignore_index")
    scores = ops["log_softmax"](x, 1) if node.op == "SoftmaxCrossEntropyLoss" else x
    arguments = {} if ignored is None else {"ignore_index": ignored}
    loss = ops["nll_loss"](
        scores, target.to(_core.int64), None if weight is None else tensor(weight), reduction=reduction, **arguments
    )
    return loss if node.outputs == 1 else (loss, scores)
