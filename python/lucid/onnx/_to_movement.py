"""Export of ops that move elements: views, joins, repeats and padding."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from .. import _core
from ._builder import Value
from ._call import Call, direct, function
from ._sizes import Size, values_of

direct(
    reshape=lambda c: c.x().reshape(c.shape),
    unflatten=lambda c: c.x().reshape(c.shape),
    unsqueeze=lambda c: c.x().unsqueeze(c.dim(rank=c.rank() + 1)),
    permute=lambda c: c.x().transpose(c.dims("dims") or []),
    expand=lambda c: c.x().expand(c.shape),
    broadcast_to=lambda c: c.x().expand(c.shape),
    select=lambda c: c.x()("Gather", c.scalar(c["index"], _core.int64), axis=c.dim()),
    contiguous=lambda c: c.x(),
    clone=lambda c: c.x(),
    to_device=lambda c: c.x(),
)


@direct("flatten")
def _flatten(c: Call) -> Value:
    if c.rank() >= 2 and c.dim("start_dim") == 1 and c.dim("end_dim") == c.rank() - 1:
        return c.x()("Flatten", axis=1)
    return c.x().reshape(c.shape)


@direct("squeeze")
def _squeeze(c: Call) -> Value:
    shape = values_of(c.value(0).shape)
    given = c.dims()
    dims = [dim for dim in (range(len(shape)) if given is None else given) if shape[dim] == 1]
    if any(isinstance(c.value(0).shape[dim], Size) for dim in dims):
        raise NotImplementedError("a size that varies is removed")
    return c.x().squeeze(*dims)


@direct("transpose", "swapaxes", "swapdims")
def _transpose(c: Call) -> Value:
    order = list(range(c.rank()))
    if order:
        first, second = c.dim("dim0"), c.dim("dim1")
        order[first], order[second] = order[second], order[first]
    return c.x().transpose(order)


@direct("movedim")
def _movedim(c: Call) -> Value:
    source, destination = c.dims("source") or [], c.dims("destination") or []
    order = [dim for dim in range(c.rank()) if dim not in source]
    for place, dim in sorted(zip(destination, source)):
        order.insert(place, dim)
    return c.x().transpose(order)


@direct("slice", "narrow")
def _slice(c: Call) -> Value:
    dim = c.dim()
    size = c.value(0).shape[dim]
    if c.op == "narrow":
        start, length = c["start"], c["length"]
        if isinstance(start, Size) or isinstance(length, Size):
            if start == 0:
                return c.x().slice(dim, 0, length)
            raise NotImplementedError("a part whose start varies")
        start += values_of([size])[0] if start < 0 else 0
        return c.x().slice(dim, start, start + length)
    start = 0 if c["start"] is None else c["start"]
    end = size if c["end"] is None else c["end"]
    if end == size:
        end = 2**63 - 1
    return c.x().slice(dim, start, end, c["step"])


@direct("diagonal", "diag")
def _diagonal(c: Call) -> Value:
    offset = c["offset"] if c.op == "diagonal" else c["diagonal"]
    sizes = c.sizes()
    if len(sizes) == 1:
        side = sizes[0] + abs(offset)
        start = offset if offset >= 0 else -offset * side
        positions = [[start + i * (side + 1)] for i in range(sizes[0])]
        zeros = c.scalar(0).expand([side * side])
        return zeros("ScatterND", c.b.constant(positions, _core.int64), c.x()).reshape([side, side])
    first, second = (c.dim("dim1"), c.dim("dim2")) if c.op == "diagonal" else (0, 1)
    others = [dim for dim in range(len(sizes)) if dim not in (first, second)]
    rows, columns = sizes[first], sizes[second]
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    start = offset if offset >= 0 else -offset * columns
    moved = c.x().transpose([*others, first, second])
    flat = moved.reshape([*(sizes[dim] for dim in others), rows * columns])
    return flat("Gather", c.b.ints([start + i * (columns + 1) for i in range(count)]), axis=len(others))


@direct("repeat", "tile")
def _repeat(c: Call) -> Value:
    counts = c.fixed(c["repeats" if c.op == "repeat" else "dims"])
    counts = [1] * (c.rank() - len(counts)) + counts
    return c.x().unsqueeze(*range(len(counts) - c.rank()))("Tile", c.b.ints(counts))


@direct("repeat_interleave")
def _repeat_interleave(c: Call) -> Value:
    x, dim, rank = (c.x().reshape([-1]), 0, 1) if c["dim"] is None else (c.x(), c.dim(), c.rank())
    repeats = [1] * (rank + 1)
    repeats[dim + 1] = c["repeats"]
    return x.unsqueeze(dim + 1)("Tile", c.b.ints(repeats)).reshape(c.shape)


@direct("flip")
def _flip(c: Call) -> Value:
    dims = c.dims("dims")
    if not dims:
        return c.x()
    count = len(dims)
    starts, ends, steps = c.b.ints([-1] * count), c.b.ints([-(2**63)] * count), c.b.ints([-1] * count)
    return c.x()("Slice", starts, ends, c.b.ints(dims), steps)


def _rolled(c: Call, x: Value, shift: int, dim: int, size: int) -> Value:
    shift = shift % size if size else 0
    if shift == 0:
        return x
    return c.b.joined([x.slice(dim, size - shift, size), x.slice(dim, 0, size - shift)], dim)


@direct("roll_one", "roll")
def _roll(c: Call) -> Value:
    x, sizes = c.x(), c.sizes()
    if c.op == "roll_one":
        return _rolled(c, x, c["shift"], c.dim(), sizes[c.dim()])
    dims = c.dims("dims")
    if not dims:
        return _rolled(c, x.reshape([-1]), c["shifts"][0], 0, math.prod(sizes)).reshape(sizes)
    for shift, dim in zip(c["shifts"], dims):
        x = _rolled(c, x, shift, dim, sizes[dim])
    return x


@direct("tril", "triu")
def _tril(c: Call) -> Value | None:
    if c.b.opset < 14 or c.dtype not in (_core.float32, _core.float64, _core.int64):
        return None
    return c.x()("Trilu", c.scalar(c["diagonal"], _core.int64), upper=int(c.op == "triu"))


@function("tril", "triu")
def _tril_by_mask(c: Call) -> Value:
    rows, columns = c.sizes()[-2:]
    offset = c["diagonal"]
    upper = c.op == "triu"
    kept = [[(j - i >= offset) if upper else (j - i <= offset) for j in range(columns)] for i in range(rows)]
    mask = c.b.constant(kept, _core.bool).reshape([rows, columns])
    return mask.where(c.x(0, c.computing), 0)


@direct("cat", "cat_same")
def _cat(c: Call) -> Value:
    rank = len(c.shape)
    shapes = [c.value(place).shape for place in range(len(c.operands))]
    # A vector without elements may be joined to anything.
    kept = [len(shape) == rank and not (shape == (0,) and rank > 1) for shape in shapes]
    return c.b.joined(list(itertools.compress(c.xs(len(shapes)), kept)), c.dim(rank=rank))


@direct("stack")
def _stack(c: Call) -> Value:
    dim = c.dim(rank=len(c.shape))
    return c.b("Concat", *[x.unsqueeze(dim) for x in c.xs(len(c.operands))], axis=dim)


@direct("hstack", "vstack", "dstack")
def _joined(c: Call) -> Value:
    parts = []
    for place, x in enumerate(c.xs(len(c.operands))):
        shape = list(c.value(place).shape)
        if c.op == "dstack" and len(shape) < 2:
            shape = [1, *(shape or [1])]
            x = x.reshape(shape)
        missing = [1] * ({"hstack": 1, "vstack": 2, "dstack": 3}[c.op] - len(shape))
        parts.append(x.reshape(shape + missing if c.op == "dstack" else missing + shape) if missing else x)
    axis = {"hstack": 0 if len(c.shape) == 1 else 1, "vstack": 0, "dstack": 2}[c.op]
    return c.b("Concat", *parts, axis=axis)


@direct("split", "chunk")
def _split(c: Call) -> list[Value]:
    dim = c.dim()
    sizes = c.fixed([kind.shape[dim] for kind in c.results])
    if len(sizes) == 1:
        return [c.x()]
    return c.b.many("Split", len(sizes), c.x(), c.b.ints(sizes), axis=dim)


@direct("unbind")
def _unbind(c: Call) -> list[Value]:
    dim = c.dim()
    count = len(c.results)
    if count < 2:
        return [c.x().squeeze(dim)] * count
    return [part.squeeze(dim) for part in c.b.many("Split", count, c.x(), c.b.ints([1] * count), axis=dim)]


@direct("meshgrid")
def _meshgrid(c: Call) -> list[Value]:
    rank = len(c.operands)
    places = list(range(rank))
    if c["indexing"] == "xy" and rank > 1:
        places[0], places[1] = 1, 0
    found = []
    for x, place in zip(c.xs(rank), places):
        shape = [1] * rank
        shape[place] = -1
        found.append(x.reshape(shape).expand(c.shape))
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
def _strided_part(c: Call) -> Value:
    size, stride, offset = c.fixed(c["size"]), c.fixed(c["stride"]), c.fixed([c["offset"]])[0]
    count = math.prod(c.sizes())
    if _is_whole(size, stride, offset, count):
        return c.x() if size == c.sizes() else c.x().reshape(size)
    flat = c.x().reshape([-1]) if c.rank() != 1 else c.x()
    return flat("Gather", c.b.ints(_positions(size, stride, offset))).reshape(size)


@direct("set_strided_part")
def _set_strided_part(c: Call) -> Value:
    part = c.value(1)
    size, stride, offset = c.fixed(part.shape), c.fixed(c["stride"]), c.fixed([c["offset"]])[0]
    sizes = c.sizes()
    if _is_whole(size, stride, offset, math.prod(sizes)):
        return part.reshape(sizes)
    positions = [[position] for position in _positions(size, stride, offset)]
    flat, new = c.x().reshape([-1]), part.reshape([-1])
    if not positions:
        return c.x()
    return flat("ScatterND", c.b.constant(positions, _core.int64), new).reshape(sizes)


def _pads(c: Call) -> list[int]:
    """The sizes that ONNX wants: all before, then all after."""
    pad = c.fixed(c["pad"])
    others = [0] * (c.rank() - len(pad) // 2)
    return [*others, *pad[-2::-2], *others, *pad[::-2]]


@direct("pad", "constant_pad")
def _pad(c: Call) -> Value:
    mode = "constant" if c.op == "constant_pad" else c["mode"]
    pads = _pads(c)
    if mode == "circular":
        return _wrapped(c, pads)
    if mode == "constant":
        dtype = _core.int32 if c.dtype in (_core.int16, _core.bool) else c.dtype
        return c.x(0, dtype)("Pad", c.b.ints(pads), c["value"])
    return c.x()("Pad", c.b.ints(pads), mode={"reflect": "reflect", "replicate": "edge"}[mode])


def _wrapped(c: Call, pads: list[int]) -> Value:
    x, sizes = c.x(), c.sizes()
    for dim, size in enumerate(sizes):
        before, after = pads[dim], pads[dim + len(sizes)]
        if min(before, after) < 0:
            raise NotImplementedError("circular padding that crops")
        parts = [x.slice(dim, size - before, size)] if before else []
        parts += [x, x.slice(dim, 0, after)] if after else [x]
        x = c.b.joined(parts, dim)
    return x
