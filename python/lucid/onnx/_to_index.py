"""Export of indexing, scatters, sorting and creation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from ._builder import Value
from ._call import Call, direct, function
from ._dtypes import computing, is_float, numbers_proto, to_proto
from ._pairs import SCATTERS
from ._sizes import Size

_ADDS = "ONNX adds to elements"


direct(
    embedding=lambda c: c.x()("Gather", c.value(1), axis=0),
    index_select=lambda c: c.x()("Gather", c.value(1) if c.rank(1) else c.value(1).reshape([-1]), axis=c.dim()),
    gather=lambda c: c.x()("GatherElements", c.value(1), axis=c.dim()) if c.rank() else c.x().expand(c.shape),
    index=lambda c: c.x()("GatherND", _stacked(c, 1)),
)


@direct("take_along_dim")
def _take_along_dim(c: Call) -> Value:
    x, index = c.value(0), c.value(1)
    if c["dim"] is None:
        return x.reshape([-1])("GatherElements", index.reshape([-1]), axis=0)
    dim = c.dim()
    wide = (*c.shape[:dim], x.shape[dim], *c.shape[dim + 1 :])
    source = x if wide == x.shape else x.expand(wide)
    return source("GatherElements", index if index.shape == c.shape else index.expand(c.shape), axis=dim)


def _stacked(c: Call, first: int) -> Value:
    """Index tensors, joined in a new last dimension."""
    parts = [c.x(place, _core.int64).unsqueeze(c.rank(place)) for place in range(first, len(c.operands))]
    return c.b.joined(parts, -1)


@direct("index_put", "index_put_set", "index_put_add")
def _index_put(c: Call) -> Value:
    adds = c.op == "index_put_add" or (c.op == "index_put" and c["accumulate"])
    if adds:
        c.since(16, _ADDS)
    shape = [*c.value(2).shape, *c.value(0).shape[len(c.operands) - 2 :]]
    values = c.x(1)
    if not isinstance(c.operands[1], Value) or list(c.value(1).shape) != shape:
        values = values.expand(shape)
    return c.x()("ScatterND", _stacked(c, 2), values, reduction="add" if adds else None)


# ONNX's reduction for each op, or for each argument `reduce`.
_REDUCTIONS: dict[str | None, str] = {op: reduction for reduction, op in SCATTERS.items()}
_REDUCTIONS |= {None: "none", "add": "add", "sum": "add", "mean": "add", "multiply": "mul", "prod": "mul"}
_REDUCTIONS |= {"amax": "max", "amin": "min"}
_SINCE = {"none": 13, "add": 16, "mul": 16, "max": 18, "min": 18}


@direct(*SCATTERS.values(), "scatter", "scatter_reduce")
def _scatter(c: Call) -> Value | None:
    if c.op == "scatter_reduce" and (c["reduce"] == "mean" or not c["include_self"]):
        return None
    reduction = _REDUCTIONS[c.op if c.op in _REDUCTIONS else c["reduce"]]
    c.since(_SINCE[reduction], f"ONNX has the reduction {reduction}")
    if c.rank() == 0:
        return None
    index, dim = c.value(1), c.dim()
    dtype = c.dtype if reduction == "none" else c.computing
    source = c.x(2, dtype)
    if not isinstance(c.operands[2], Value):
        source = source.expand(index.shape)
    else:
        for axis, (have, want) in enumerate(zip(c.value(2).shape, index.shape)):
            source = source if have == want else source.slice(axis, 0, want)
    given = None if reduction == "none" else reduction
    return c.x(0, dtype)("ScatterElements", index, source, axis=dim, reduction=given)


@function("scatter_reduce")
def _scatter_reduce(c: Call) -> Value:
    """Means, and reductions without the elements that were there."""
    if c.dtype is _core.bool:
        raise NotImplementedError("a reduction of bools")
    if c.b.opset < 18 or c.rank() == 0:
        raise NotImplementedError("ONNX has these reductions from opset 18 on")
    dim, reduce = c.dim(), c["reduce"]
    index, source = c.value(1), c.x(2)
    one = c.scalar(1).expand(index.shape)
    zeros = c.scalar(0).expand(c.value(0).shape)
    count = zeros("ScatterElements", index, one, axis=dim, reduction="add")
    hit = count > 0
    x = c.x()
    if not c["include_self"]:
        extremes = {"amax": -math.inf, "amin": math.inf} if is_float(c.dtype) else {}
        start = {"sum": 0, "mean": 0, "prod": 1, **extremes}
        if reduce not in start:
            raise NotImplementedError(f"{reduce} of integers without the elements that were there")
        x = hit.where(start[reduce], x)
    found = x("ScatterElements", index, source, axis=dim, reduction=_REDUCTIONS[reduce])
    if reduce != "mean":
        return found
    total = count + 1 if c["include_self"] else count("Max", 1)
    return found / total if is_float(c.dtype) else (found - found("Mod", total)) / total


@function("index_add")
def _index_add(c: Call) -> Value:
    c.since(16, _ADDS)
    shape = [1] * c.rank()
    shape[c.dim()] = -1
    index = c.x(1, _core.int64).reshape(shape).expand(c.value(2).shape)
    return c.x()("ScatterElements", index, c.x(2), axis=c.dim(), reduction="add")


@direct("one_hot")
def _one_hot(c: Call) -> Value:
    depth = c.scalar(c["num_classes"], _core.int64)
    index = c.value(0)
    if c.rank():
        return index("OneHot", depth, c.b.ints([0, 1]), axis=-1, result=_core.int64)
    return index.reshape([1])("OneHot", depth, c.b.ints([0, 1]), axis=-1, result=_core.int64).squeeze(0)


# Sorting.


def _sorted_along(c: Call, dim: int, count: int, largest: bool) -> list[Value]:
    """The best elements along a dimension, best first, with their positions."""
    source = c.value(0).dtype
    x = c.x(0, computing(source))
    values, indices = c.b.many("TopK", 2, x, c.b.ints([count]), axis=dim, largest=int(largest), sorted=1)
    return [values.to(source), indices]


@direct("sort", "argsort", "msort", "topk")
def _sort(c: Call) -> Value | list[Value] | None:
    if c.rank() == 0:
        return None
    dim = 0 if c.op == "msort" else c.dim()
    largest = c["largest"] if c.op == "topk" else c.op != "msort" and c["descending"]
    found = _sorted_along(c, dim, c["k"] if c.op == "topk" else c.sizes()[dim], largest)
    return {"msort": found[:1], "argsort": found[1:]}.get(c.op, found)


@function("sort", "argsort", "topk")
def _sort_of_scalar(c: Call) -> list[Value]:
    if c.rank():
        raise NotImplementedError("ONNX has no equivalent")
    zero = c.scalar(0, _core.int64)
    return [zero] if c.op == "argsort" else [c.x(), zero]


@function("kthvalue", "median_dim")
def _kthvalue(c: Call) -> list[Value]:
    if c.rank() == 0:
        return [c.x(), c.scalar(0, _core.int64)]
    dim = c.dim()
    rank = c["k"] if c.op == "kthvalue" else (c.sizes()[dim] + 1) // 2
    found = []
    for part in _sorted_along(c, dim, rank, False):
        last = part.slice(dim, rank - 1, rank)
        found.append(last if c["keepdim"] else last.squeeze(dim))
    return found


@function("median")
def _median(c: Call) -> Value:
    middle = (math.prod(c.sizes()) + 1) // 2
    flat = c.x(0, c.computing).reshape([-1])
    values, _ = c.b.many("TopK", 2, flat, c.b.ints([middle]), axis=0, largest=0, sorted=1)
    return values("Gather", c.scalar(middle - 1, _core.int64))


@function("searchsorted", "bucketize")
def _searchsorted(c: Call) -> Value:
    sequence, values = (1, 0) if c.op == "bucketize" else (0, 1)
    dtype = computing(c.common(0, 1))
    edges = c.x(sequence, dtype)
    inserted = c.x(values, dtype).unsqueeze(c.rank(values))
    if c.rank(sequence) > 1:
        edges = edges.unsqueeze(c.rank(sequence) - 1)
    before = edges <= inserted if c["right"] else edges < inserted
    return before.cast(_core.int64).reduce("Sum", [c.rank(values)])


@function("histc")
def _histc(c: Call) -> Value:
    flat = c.x().reshape([-1])
    if c["min"] == c["max"]:
        low, high = flat.reduce("Min"), flat.reduce("Max")
        narrow = low.equals(high)
        low = narrow.where(low - 1, low)
        high = narrow.where(high + 1, high)
    else:
        low, high = c.scalar(c["min"]), c.scalar(c["max"])
    bins = c["bins"]
    width = high - low
    place = ((flat - low) * bins / width)("Floor")("Min", bins - 1)
    inside = (flat >= low) & (flat <= high)
    place = inside.where(place, -1)
    edges = c.b.constant([[i] for i in range(bins)], c.dtype)
    hits = place.unsqueeze(0).cast(_core.int32).equals(edges.cast(_core.int32))
    return hits.cast(_core.int64).reduce("Sum", [1]).cast(c.dtype)


# Creation: the tensor is computed now, and its elements are stored.

_FILLS = {"zeros": 0, "ones": 1, "empty": 0, "zeros_like": 0, "ones_like": 1, "empty_like": 0}
_LARGE = 1024


@direct(*_FILLS, "full", "full_like")
def _filled(c: Call) -> Value:
    value: Any = _FILLS[c.op] if c.op in _FILLS else c.operands[-1]
    if isinstance(value, Value | Size):
        return c.x(len(c.operands) - 1).expand(c.shape)
    varies = any(isinstance(size, Size) for size in c.shape)
    if not varies and math.prod(c.shape) > _LARGE:
        return c.b.ints(c.shape)("ConstantOfShape", value=numbers_proto([value], c.dtype), result=c.dtype)
    if varies or c.dtype is _core.bfloat16:
        return c.scalar(value).expand(c.shape)
    return c.b.constant(np.full(c.shape, value), c.dtype)


@direct("eye", "linspace", "logspace", "iota", "tril_indices", "triu_indices")
def _computed(c: Call) -> Value:
    c.fixed([size for size in c.attributes.values() if isinstance(size, Size)])
    made = _core.ops[c.op](*c.operands, **c.attributes)
    return c.b("Constant", value=to_proto(made, ""), result=c.dtype)


@direct("arange")
def _arange(c: Call) -> Value:
    if any(isinstance(operand, Value) for operand in c.operands):
        raise NotImplementedError("bounds that are tensors")
    if not any(isinstance(operand, Size) for operand in c.operands):
        return _computed(c)
    start, end, step = c.operands
    bounds = [0, start, 1] if end is None else [start, end, 1 if step is None else step]
    if any(isinstance(bound, float) for bound in bounds):
        raise NotImplementedError("a range of floats whose length varies")
    wide = Call(c.op, bounds, {}, c.results, c.b)
    return c.b("Range", *wide.xs(3, _core.int64))
