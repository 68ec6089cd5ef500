"""Export of ops that move elements: views, joins, repeats and padding."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from .. import _core
from ._call import Call, direct, function
from ._sizes import Size, values_of
from ._to_pointwise import computing


@direct("reshape", "unflatten")
def _reshape(c: Call) -> str:
    return c.b.reshape(c.x(0), c.shape)


@direct("flatten")
def _flatten(c: Call) -> str:
    if c.rank() >= 2 and c.dim("start_dim") == 1 and c.dim("end_dim") == c.rank() - 1:
        return c.b("Flatten", c.x(0), axis=1)
    return c.b.reshape(c.x(0), c.shape)


@direct("squeeze")
def _squeeze(c: Call) -> str:
    shape = values_of(c.value(0).shape)
    given = c.dims()
    dims = [dim for dim in (range(len(shape)) if given is None else given) if shape[dim] == 1]
    if any(isinstance(c.value(0).shape[dim], Size) for dim in dims):
        raise NotImplementedError("a size that varies is removed")
    return c.b.squeeze(c.x(0), dims)


@direct("unsqueeze")
def _unsqueeze(c: Call) -> str:
    return c.b.unsqueeze(c.x(0), [c.dim(rank=c.rank() + 1)])


@direct("transpose", "swapaxes", "swapdims")
def _transpose(c: Call) -> str:
    order = list(range(c.rank()))
    if order:
        first, second = c.dim("dim0"), c.dim("dim1")
        order[first], order[second] = order[second], order[first]
    return c.b.transpose(c.x(0), order)


@direct("permute")
def _permute(c: Call) -> str:
    return c.b.transpose(c.x(0), c.dims("dims") or [])


@direct("movedim")
def _movedim(c: Call) -> str:
    source, destination = c.dims("source") or [], c.dims("destination") or []
    order = [dim for dim in range(c.rank()) if dim not in source]
    for place, dim in sorted(zip(destination, source)):
        order.insert(place, dim)
    return c.b.transpose(c.x(0), order)


@direct("expand", "broadcast_to")
def _expand(c: Call) -> str:
    return c.b.expand(c.x(0), c.shape)


@direct("select")
def _select(c: Call) -> str:
    return c.b("Gather", c.x(0), c.scalar(c["index"], _core.int64), axis=c.dim())


@direct("slice", "narrow")
def _slice(c: Call) -> str:
    dim = c.dim()
    size = c.value(0).shape[dim]
    if c.op == "narrow":
        start, length = c["start"], c["length"]
        if isinstance(start, Size) or isinstance(length, Size):
            if start == 0:
                return c.b.slice(c.x(0), dim, 0, length)
            raise NotImplementedError("a part whose start varies")
        start += values_of([size])[0] if start < 0 else 0
        return c.b.slice(c.x(0), dim, start, start + length)
    start = 0 if c["start"] is None else c["start"]
    end = size if c["end"] is None else c["end"]
    if end == size:
        end = 2**63 - 1
    return c.b.slice(c.x(0), dim, start, end, c["step"])


@direct("contiguous", "clone", "to_device")
def _same(c: Call) -> str:
    return c.x(0)


@direct("diagonal")
def _diagonal(c: Call) -> str:
    first, second = c.dim("dim1"), c.dim("dim2")
    return _diagonal_of(c, c.x(0), c.sizes(), first, second, c["offset"])


def _diagonal_of(c: Call, x: str, sizes: list[int], first: int, second: int, offset: int) -> str:
    others = [dim for dim in range(len(sizes)) if dim not in (first, second)]
    rows, columns = sizes[first], sizes[second]
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    start = offset if offset >= 0 else -offset * columns
    positions = [start + i * (columns + 1) for i in range(count)]
    moved = c.b.transpose(x, [*others, first, second])
    flat = c.b.reshape(moved, [*(sizes[dim] for dim in others), rows * columns])
    return c.b("Gather", flat, c.b.ints(positions), axis=len(others))


@direct("diag")
def _diag(c: Call) -> str:
    offset = c["diagonal"]
    if c.rank() == 2:
        return _diagonal_of(c, c.x(0), c.sizes(), 0, 1, offset)
    size = c.sizes()[0]
    side = size + abs(offset)
    start = offset if offset >= 0 else -offset * side
    positions = [[start + i * (side + 1)] for i in range(size)]
    zeros = c.b.expand(c.scalar(0), [side * side])
    return c.b.reshape(c.b("ScatterND", zeros, c.b.constant(positions, _core.int64), c.x(0)), [side, side])


@direct("repeat", "tile")
def _repeat(c: Call) -> str:
    counts = c.fixed(c["repeats" if c.op == "repeat" else "dims"])
    rank = c.rank()
    counts = [1] * (rank - len(counts)) + counts
    x = c.b.unsqueeze(c.x(0), list(range(len(counts) - rank)))
    return c.b("Tile", x, c.b.ints(counts))


@direct("repeat_interleave")
def _repeat_interleave(c: Call) -> str:
    count = c["repeats"]
    x = c.x(0)
    if c["dim"] is None:
        x, dim = c.b.reshape(x, [-1]), 0
    else:
        dim = c.dim()
    spread = c.b.unsqueeze(x, [dim + 1])
    repeats = [1] * ((1 if c["dim"] is None else c.rank()) + 1)
    repeats[dim + 1] = count
    return c.b.reshape(c.b("Tile", spread, c.b.ints(repeats)), c.shape)


@direct("flip")
def _flip(c: Call) -> str:
    dims = c.dims("dims")
    if not dims:
        return c.x(0)
    count = len(dims)
    starts, ends, steps = c.b.ints([-1] * count), c.b.ints([-(2**63)] * count), c.b.ints([-1] * count)
    return c.b("Slice", c.x(0), starts, ends, c.b.ints(dims), steps)


def _rolled(c: Call, x: str, shift: int, dim: int, size: int) -> str:
    shift = shift % size if size else 0
    if shift == 0:
        return x
    return c.b("Concat", c.b.slice(x, dim, size - shift, size), c.b.slice(x, dim, 0, size - shift), axis=dim)


@direct("roll_one", "roll")
def _roll(c: Call) -> str:
    x, sizes = c.x(0), c.sizes()
    if c.op == "roll_one":
        return _rolled(c, x, c["shift"], c.dim(), sizes[c.dim()])
    dims = c.dims("dims")
    if not dims:
        flat = _rolled(c, c.b.reshape(x, [-1]), c["shifts"][0], 0, math.prod(sizes))
        return c.b.reshape(flat, sizes)
    for shift, dim in zip(c["shifts"], dims):
        x = _rolled(c, x, shift, dim, sizes[dim])
    return x


@direct("tril", "triu")
def _tril(c: Call) -> str | None:
    if c.b.opset < 14 or c.dtype not in (_core.float32, _core.float64, _core.int64):
        return None
    return c.b("Trilu", c.x(0), c.scalar(c["diagonal"], _core.int64), upper=int(c.op == "triu"))


@function("tril", "triu")
def _tril_by_mask(c: Call) -> str:
    rows, columns = c.sizes()[-2:]
    offset = c["diagonal"]
    upper = c.op == "triu"
    kept = [[(j - i >= offset) if upper else (j - i <= offset) for j in range(columns)] for i in range(rows)]
    mask = c.b.reshape(c.b.constant(kept, _core.bool), [rows, columns])
    dtype = computing(c.dtype)
    return c.done(c.b("Where", mask, c.x(0, dtype), c.scalar(0, dtype)), dtype)


def _operands(c: Call) -> list[tuple[str, list[Any]]]:
    return [(c.x(i, c.dtype), list(c.value(i).shape)) for i in range(len(c.operands))]


@direct("cat", "cat_same")
def _cat(c: Call) -> str:
    rank = len(c.shape)
    # A vector without elements may be joined to anything.
    parts = [name for name, shape in _operands(c) if len(shape) == rank and not (shape == [0] and rank > 1)]
    return c.b("Concat", *parts, axis=c.dim(rank=rank)) if len(parts) > 1 else parts[0]


@direct("stack")
def _stack(c: Call) -> str:
    dim = c.dim(rank=len(c.shape))
    return c.b("Concat", *(c.b.unsqueeze(name, [dim]) for name, _ in _operands(c)), axis=dim)


@direct("hstack", "vstack", "dstack")
def _joined(c: Call) -> str:
    least = {"hstack": 1, "vstack": 2, "dstack": 3}[c.op]
    parts = []
    for name, shape in _operands(c):
        if c.op == "dstack" and len(shape) < 2:
            name, shape = c.b.reshape(name, [1, *(shape or [1])]), [1, *(shape or [1])]
        missing = max(0, least - len(shape))
        front = c.op != "dstack"
        new = [1] * missing + shape if front else shape + [1] * missing
        parts.append(c.b.reshape(name, new) if missing else name)
    axis = {"hstack": 0 if len(c.shape) == 1 else 1, "vstack": 0, "dstack": 2}[c.op]
    return c.b("Concat", *parts, axis=axis)


@direct("split", "chunk")
def _split(c: Call) -> list[str]:
    dim = c.dim()
    sizes = c.fixed([kind.shape[dim] for kind in c.results])
    if len(sizes) == 1:
        return [c.x(0)]
    return c.b.many("Split", len(sizes), c.x(0), c.b.ints(sizes), axis=dim)


@direct("unbind")
def _unbind(c: Call) -> list[str]:
    dim = c.dim()
    count = len(c.results)
    if count < 2:
        return [c.b.squeeze(c.x(0), [dim])] * count
    return [c.b.squeeze(part, [dim]) for part in c.b.many("Split", count, c.x(0), c.b.ints([1] * count), axis=dim)]


@direct("meshgrid")
def _meshgrid(c: Call) -> list[str]:
    rank = len(c.operands)
    places = list(range(rank))
    if c["indexing"] == "xy" and rank > 1:
        places[0], places[1] = 1, 0
    found = []
    for position, place in enumerate(places):
        shape: list[Any] = [1] * rank
        shape[place] = -1
        found.append(c.b.expand(c.b.reshape(c.x(position), shape), c.shape))
    return found


def _is_whole(size: Sequence[int], stride: Sequence[int], offset: int, count: int) -> bool:
    """Whether a part is everything, in order."""
    step = 1
    for length, each in zip(reversed(size), reversed(stride)):
        if length != 1 and each != step:
            return False
        step *= length
    return offset == 0 and step == count


def _positions(size: Sequence[int], stride: Sequence[int], offset: int) -> list[int]:
    steps = [[i * step for i in range(length)] for length, step in zip(size, stride)]
    return [offset + sum(place) for place in itertools.product(*steps)]


@direct("strided_part")
def _strided_part(c: Call) -> str:
    size, stride, offset = c.fixed(c["size"]), c.fixed(c["stride"]), c.fixed([c["offset"]])[0]
    count = math.prod(c.sizes())
    if _is_whole(size, stride, offset, count):
        return c.x(0) if size == c.sizes() else c.b.reshape(c.x(0), size)
    flat = c.b.reshape(c.x(0), [-1]) if c.rank() != 1 else c.x(0)
    return c.b.reshape(c.b("Gather", flat, c.b.ints(_positions(size, stride, offset))), size)


@direct("set_strided_part")
def _set_strided_part(c: Call) -> str:
    part = c.value(1)
    size, stride, offset = c.fixed(part.shape), c.fixed(c["stride"]), c.fixed([c["offset"]])[0]
    sizes = c.sizes()
    if _is_whole(size, stride, offset, math.prod(sizes)):
        return c.b.reshape(part.name, sizes)
    positions = [[position] for position in _positions(size, stride, offset)]
    flat, new = c.b.reshape(c.x(0), [-1]), c.b.reshape(part.name, [-1])
    if not positions:
        return c.x(0)
    return c.b.reshape(c.b("ScatterND", flat, c.b.constant(positions, _core.int64), new), sizes)


def _pads(c: Call) -> list[int]:
    """The sizes that ONNX wants: all before, then all after."""
    pad = c.fixed(c["pad"])
    before, after = [0] * c.rank(), [0] * c.rank()
    for i in range(len(pad) // 2):
        before[c.rank() - 1 - i], after[c.rank() - 1 - i] = pad[2 * i], pad[2 * i + 1]
    return [*before, *after]


@direct("pad", "constant_pad")
def _pad(c: Call) -> str:
    mode = "constant" if c.op == "constant_pad" else c["mode"]
    pads = _pads(c)
    if mode == "circular":
        return _wrapped(c, pads)
    if mode == "constant":
        dtype = _core.int32 if c.dtype in (_core.int16, _core.bool) else c.dtype
        padded = c.b("Pad", c.x(0, dtype), c.b.ints(pads), c.scalar(c["value"], dtype))
        return c.done(padded, dtype)
    kinds = {"reflect": "reflect", "replicate": "edge"}
    return c.b("Pad", c.x(0), c.b.ints(pads), mode=kinds[mode])


def _wrapped(c: Call, pads: list[int]) -> str:
    x, sizes = c.x(0), c.sizes()
    for dim, size in enumerate(sizes):
        before, after = pads[dim], pads[dim + len(sizes)]
        if min(before, after) < 0:
            raise NotImplementedError("circular padding that crops")
        parts = [c.b.slice(x, dim, size - before, size)] if before else []
        parts += [x]
        parts += [c.b.slice(x, dim, 0, after)] if after else []
        x = c.b("Concat", *parts, axis=dim) if len(parts) > 1 else x
    return x
