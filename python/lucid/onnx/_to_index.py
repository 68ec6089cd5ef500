"""Export of indexing, scatters, sorting and creation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from ._call import Call, Value, direct, function, is_float
from ._dtypes import NUMBERS, numbers_proto, to_proto
from ._sizes import Size
from ._to_pointwise import computing


@direct("index_select")
def _index_select(c: Call) -> str:
    index = c.b.reshape(c.x(1), [-1]) if c.rank(1) == 0 else c.x(1)
    return c.b("Gather", c.x(0), index, axis=c.dim())


@direct("embedding")
def _embedding(c: Call) -> str:
    return c.b("Gather", c.x(0), c.x(1), axis=0)


@direct("gather")
def _gather(c: Call) -> str:
    if c.rank() == 0:
        return c.b.expand(c.x(0), c.shape)
    return c.b("GatherElements", c.x(0), c.x(1), axis=c.dim())


@direct("take_along_dim")
def _take_along_dim(c: Call) -> str:
    if c["dim"] is None:
        return c.b("GatherElements", c.b.reshape(c.x(0), [-1]), c.b.reshape(c.x(1), [-1]), axis=0)
    dim = c.dim()
    x, index = list(c.value(0).shape), list(c.value(1).shape)
    shape = list(c.shape)
    wide = [*shape[:dim], x[dim], *shape[dim + 1 :]]
    source = c.x(0) if wide == x else c.b.expand(c.x(0), wide)
    places = c.x(1) if index == shape else c.b.expand(c.x(1), shape)
    return c.b("GatherElements", source, places, axis=dim)


def _stacked(c: Call, first: int) -> str:
    """Index tensors, joined in a new last dimension."""
    parts = []
    for position in range(first, len(c.operands)):
        parts.append(c.b.unsqueeze(c.x(position, _core.int64), [c.rank(position)]))
    return c.b("Concat", *parts, axis=-1) if len(parts) > 1 else parts[0]


@direct("index")
def _index(c: Call) -> str:
    return c.b("GatherND", c.x(0), _stacked(c, 1))


@direct("index_put", "index_put_set", "index_put_add")
def _index_put(c: Call) -> str:
    adds = c.op == "index_put_add" or (c.op == "index_put" and c["accumulate"])
    if adds and c.b.opset < 16:
        raise NotImplementedError("ONNX adds to elements from opset 16 on")
    index = c.value(2).shape
    shape = [*index, *c.value(0).shape[len(c.operands) - 2 :]]
    values = c.x(1, c.dtype)
    if not isinstance(c.operands[1], Value) or list(c.value(1).shape) != shape:
        values = c.b.expand(values, shape)
    return c.b("ScatterND", c.x(0), _stacked(c, 2), values, reduction="add" if adds else None)


_REDUCTIONS = {
    "scatter_set": None,
    "scatter_add": "add",
    "scatter_amax": "max",
    "scatter_amin": "min",
    "scatter_mul": "mul",
}
_NAMES = {None: None, "add": "add", "sum": "add", "multiply": "mul", "prod": "mul", "amax": "max", "amin": "min"}
_SINCE = {None: 13, "add": 16, "mul": 16, "max": 18, "min": 18}


@direct(*_REDUCTIONS, "scatter", "scatter_reduce")
def _scatter(c: Call) -> str | None:
    if c.op == "scatter_reduce" and (c["reduce"] == "mean" or not c["include_self"]):
        return None
    reduction = _REDUCTIONS[c.op] if c.op in _REDUCTIONS else _NAMES[c["reduce"]]
    if c.b.opset < _SINCE[reduction]:
        raise NotImplementedError(f"ONNX has the reduction {reduction} from opset {_SINCE[reduction]} on")
    if c.rank() == 0:
        return None
    index = c.value(1)
    dtype = c.dtype if reduction is None else computing(c.dtype)
    source = c.x(2, dtype)
    if not isinstance(c.operands[2], Value):
        source = c.b.expand(source, index.shape)
    else:
        for dim, (have, want) in enumerate(zip(c.value(2).shape, index.shape)):
            source = source if have == want else c.b.slice(source, dim, 0, want)
    return c.done(c.b("ScatterElements", c.x(0, dtype), index.name, source, axis=c.dim(), reduction=reduction), dtype)


@function("scatter_reduce")
def _scatter_reduce(c: Call) -> str:
    """Means, and reductions without the elements that were there."""
    if c.dtype is _core.bool:
        raise NotImplementedError("a reduction of bools")
    if c.b.opset < 18 or c.rank() == 0:
        raise NotImplementedError("ONNX has these reductions from opset 18 on")
    dim, reduce = c.dim(), c["reduce"]
    index, source = c.x(1), c.x(2, c.dtype)
    one = c.b.expand(c.scalar(1), c.value(1).shape)
    zeros = c.b.expand(c.scalar(0), c.value(0).shape)
    count = c.b("ScatterElements", zeros, index, one, axis=dim, reduction="add")
    hit = c.b("Greater", count, c.scalar(0))
    x = c.x(0)
    if not c["include_self"]:
        extremes = {"amax": -math.inf, "amin": math.inf} if is_float(c.dtype) else {}
        start = {"sum": 0, "mean": 0, "prod": 1, **extremes}
        if reduce not in start:
            raise NotImplementedError(f"{reduce} of integers without the elements that were there")
        x = c.b("Where", hit, c.scalar(start[reduce]), x)
    kind = {"mean": "add"}.get(reduce) or _NAMES[reduce]
    found = c.b("ScatterElements", x, index, source, axis=dim, reduction=kind)
    if reduce == "mean":
        total = c.b("Add", count, c.scalar(1)) if c["include_self"] else c.b("Max", count, c.scalar(1))
        if is_float(c.dtype):
            return c.b("Div", found, total)
        rest = c.b("Mod", found, total)
        return c.b("Div", c.b("Sub", found, rest), total)
    return found


@function("index_add")
def _index_add(c: Call) -> str:
    if c.b.opset < 16:
        raise NotImplementedError("ONNX adds to elements from opset 16 on")
    dim = c.dim()
    source = c.value(2)
    shape = [1] * c.rank()
    shape[dim] = -1
    index = c.b.expand(c.b.reshape(c.x(1, _core.int64), shape), source.shape)
    return c.b("ScatterElements", c.x(0), index, c.x(2, c.dtype), axis=dim, reduction="add")


@direct("one_hot")
def _one_hot(c: Call) -> str:
    depth = c.scalar(c["num_classes"], _core.int64)
    if c.rank() == 0:
        return c.b.squeeze(c.b("OneHot", c.b.reshape(c.x(0), [1]), depth, c.b.ints([0, 1]), axis=-1), [0])
    return c.b("OneHot", c.x(0), depth, c.b.ints([0, 1]), axis=-1)


# Sorting.


def sorted_along(c: Call, dim: int, count: int, largest: bool, position: int = 0) -> tuple[str, str]:
    """The best elements along a dimension, best first, with their positions."""
    dtype = computing(c.value(position).dtype)
    values, indices = c.b.many(
        "TopK", 2, c.x(position, dtype), c.b.ints([count]), axis=dim, largest=int(largest), sorted=1
    )
    source = c.value(position).dtype
    return values if dtype is source else c.b.cast(values, source), indices


@direct("sort", "argsort", "msort", "topk")
def _sort(c: Call) -> str | list[str] | None:
    if c.rank() == 0:
        return None
    dim = 0 if c.op == "msort" else c.dim()
    largest = c["largest"] if c.op == "topk" else c.op != "msort" and c["descending"]
    count = c["k"] if c.op == "topk" else c.sizes()[dim]
    values, indices = sorted_along(c, dim, count, largest)
    if c.op == "msort":
        return values
    return indices if c.op == "argsort" else [values, indices]


@function("sort", "argsort", "topk")
def _sort_of_scalar(c: Call) -> str | list[str]:
    if c.rank():
        raise NotImplementedError("ONNX has no equivalent")
    zero = c.scalar(0, _core.int64)
    return zero if c.op == "argsort" else [c.x(0), zero]


@function("kthvalue", "median_dim")
def _kthvalue(c: Call) -> list[str]:
    if c.rank() == 0:
        return [c.x(0), c.scalar(0, _core.int64)]
    dim = c.dim()
    size = c.sizes()[dim]
    rank = c["k"] if c.op == "kthvalue" else (size + 1) // 2
    found = []
    for part in sorted_along(c, dim, rank, False):
        last = c.b.slice(part, dim, rank - 1, rank)
        found.append(last if c["keepdim"] else c.b.squeeze(last, [dim]))
    return found


@function("median")
def _median(c: Call) -> str:
    count = math.prod(c.sizes())
    dtype = computing(c.dtype)
    flat = c.b.reshape(c.x(0, dtype), [-1])
    middle = (count + 1) // 2
    values, _ = c.b.many("TopK", 2, flat, c.b.ints([middle]), axis=0, largest=0, sorted=1)
    return c.done(c.b("Gather", values, c.scalar(middle - 1, _core.int64)), dtype)


@function("searchsorted", "bucketize")
def _searchsorted(c: Call) -> str:
    sequence, values = (1, 0) if c.op == "bucketize" else (0, 1)
    dtype = computing(c.common(0, 1))
    edges = c.x(sequence, dtype)
    count = c.rank(sequence)
    inserted = c.b.unsqueeze(c.x(values, dtype), [c.rank(values)])
    if count > 1:
        edges = c.b.unsqueeze(edges, [count - 1])
    before = c.b("LessOrEqual" if c["right"] else "Less", edges, inserted)
    return c.b.reduce("ReduceSum", c.b.cast(before, _core.int64), [c.rank(values)], False)


@function("histc")
def _histc(c: Call) -> str:
    flat = c.b.reshape(c.x(0, c.dtype), [-1])
    if c["min"] == c["max"]:
        low, high = c.b.reduce("ReduceMin", flat, None, False), c.b.reduce("ReduceMax", flat, None, False)
        narrow = c.b("Equal", low, high)
        low = c.b("Where", narrow, c.b("Sub", low, c.scalar(1)), low)
        high = c.b("Where", narrow, c.b("Add", high, c.scalar(1)), high)
    else:
        low, high = c.scalar(c["min"]), c.scalar(c["max"])
    bins = c["bins"]
    width = c.b("Sub", high, low)
    place = c.b("Floor", c.b("Div", c.b("Mul", c.b("Sub", flat, low), c.scalar(bins)), width))
    place = c.b("Min", place, c.scalar(bins - 1))
    inside = c.b("And", c.b("GreaterOrEqual", flat, low), c.b("LessOrEqual", flat, high))
    place = c.b("Where", inside, place, c.scalar(-1))
    edges = c.b.constant([[i] for i in range(bins)], c.dtype)
    hits = c.b("Equal", c.b.cast(c.b.unsqueeze(place, [0]), _core.int32), c.b.cast(edges, _core.int32))
    return c.b.cast(c.b.reduce("ReduceSum", c.b.cast(hits, _core.int64), [1], False), c.dtype)


# Creation: the tensor is computed now, and its elements are stored.

_FILLS = {"zeros": 0, "ones": 1, "empty": 0, "zeros_like": 0, "ones_like": 1, "empty_like": 0}
_LARGE = 1024


def _filled(c: Call, value: Any, shape: tuple[Any, ...]) -> str:
    if any(isinstance(size, Size) for size in shape):
        return c.b.expand(c.scalar(value), shape)
    if math.prod(shape) > _LARGE:
        return c.b("ConstantOfShape", c.b.ints(shape), value=numbers_proto([value], c.dtype))
    if c.dtype is _core.bfloat16:
        return c.b.expand(c.scalar(value), shape)
    return c.b.constant(np.full(shape, value), c.dtype)


@direct(*_FILLS)
def _fill(c: Call) -> str:
    return _filled(c, _FILLS[c.op], c.shape)


@direct("full", "full_like")
def _full(c: Call) -> str:
    value = c.operands[-1]
    if not isinstance(value, Value | Size):
        return _filled(c, value, c.shape)
    return c.b.expand(c.x(len(c.operands) - 1, c.dtype), c.shape)


@direct("eye", "linspace", "logspace", "iota", "tril_indices", "triu_indices")
def _computed(c: Call) -> str:
    c.fixed([size for size in c.attributes.values() if isinstance(size, Size)])
    made = _core.ops[c.op](**c.attributes)
    return c.b("Constant", value=to_proto(made, ""))


@direct("arange")
def _arange(c: Call) -> str:
    if any(isinstance(operand, Value) for operand in c.operands):
        raise NotImplementedError("bounds that are tensors")
    if not any(isinstance(operand, Size) for operand in c.operands):
        made = _core.ops["arange"](*c.operands, **c.attributes)
        return c.b("Constant", value=to_proto(made, ""))
    bounds = list(c.operands)
    bounds = [0, bounds[0], 1] if bounds[1] is None else [bounds[0], bounds[1], 1 if bounds[2] is None else bounds[2]]
    if any(isinstance(bound, float) for bound in bounds):
        raise NotImplementedError("a range of floats whose length varies")
    wide = Call(c.op, bounds, {}, c.results, c.b)
    found = c.b("Range", *(wide.x(i, _core.int64) for i in range(3)))
    return found if c.dtype is _core.int64 else c.b("Cast", found, to=NUMBERS[c.dtype])
