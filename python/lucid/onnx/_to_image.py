"""Export of ops on images, and of embedding bags."""

from __future__ import annotations

import math

from .. import _core
from ._call import Call, direct, function
from ._dtypes import HALVES, is_exact


def _resized(c: Call, x: str, sizes: str | None, scales: str | None, mode: str, aligned: bool) -> str:
    """A Resize whose elements are where Lucid has them."""
    kinds = {"nearest": "nearest", "nearest-exact": "nearest", "bicubic": "cubic", "cubic": "cubic"}
    kind = kinds.get(mode, "linear")
    where = "align_corners" if aligned else "asymmetric" if mode == "nearest" else "half_pixel"
    rounding = None
    if kind == "nearest":
        rounding = "floor" if mode == "nearest" else "round_prefer_ceil"
    return c.b(
        "Resize",
        x,
        None,
        scales,
        sizes,
        mode=kind,
        coordinate_transformation_mode=where,
        nearest_mode=rounding,
        cubic_coeff_a=-0.75 if kind == "cubic" else None,
    )


@direct("interpolate")
def _interpolate(c: Call) -> str | None:
    if c.dtype is not _core.float32 or c["mode"] == "area":
        return None
    scale = c["scale_factor"]
    if scale is not None and not c["align_corners"] and not is_exact(scale, _core.float32):
        return None
    return _interpolated(c, c.x(0))


def _interpolated(c: Call, x: str) -> str:
    scale = c["scale_factor"]
    # With aligned corners only the sizes matter to Lucid.
    if scale is None or c["align_corners"]:
        return _resized(c, x, c.b.ints(c.shape), None, c["mode"], bool(c["align_corners"]))
    scales = c.b.constant([1.0, 1.0] + [scale] * (c.rank() - 2), _core.float32)
    return _resized(c, x, None, scales, c["mode"], bool(c["align_corners"]))


@function("interpolate")
def _interpolate_of_others(c: Call) -> str:
    dtype = _core.float32 if c.dtype in HALVES else c.dtype
    x = c.x(0, dtype)
    if c["mode"] != "area":
        c.fixed(c.shape)
        return c.done(_interpolated(c, x), dtype)
    sizes, shape = c.sizes(), c.fixed(c.shape)
    for dim in range(2, c.rank()):
        size, bins = sizes[dim], shape[dim]
        edges = [(i * size // bins, -(-(i + 1) * size // bins)) for i in range(bins)]
        parts = [c.b.reduce("ReduceMean", c.b.slice(x, dim, start, end), [dim], True) for start, end in edges]
        x = c.b("Concat", *parts, axis=dim) if len(parts) > 1 else parts[0]
    return c.done(x, dtype)


@direct("pixel_shuffle")
def _pixel_shuffle(c: Call) -> str:
    r = c["upscale_factor"]
    if c.rank() == 4 and c.dtype in (_core.float32, _core.float64):
        return c.b("DepthToSpace", c.x(0), blocksize=r, mode="CRD")
    *lead, channels, height, width = c.sizes()
    n = len(lead)
    parts = c.b.reshape(c.x(0), [*lead, channels // (r * r), r, r, height, width])
    moved = c.b.transpose(parts, [*range(n), n, n + 3, n + 1, n + 4, n + 2])
    return c.b.reshape(moved, c.shape)


@direct("pixel_unshuffle")
def _pixel_unshuffle(c: Call) -> str:
    r = c["downscale_factor"]
    *lead, channels, height, width = c.sizes()
    n = len(lead)
    parts = c.b.reshape(c.x(0), [*lead, channels, height // r, r, width // r, r])
    moved = c.b.transpose(parts, [*range(n), n, n + 2, n + 4, n + 1, n + 3])
    return c.b.reshape(moved, c.shape)


@direct("channel_shuffle")
def _channel_shuffle(c: Call) -> str:
    groups = c["groups"]
    batch, channels, *rest = c.value(0).shape
    count = c.fixed([channels])[0]
    parts = c.b.reshape(c.x(0), [batch, groups, count // groups, *rest])
    moved = c.b.transpose(parts, [0, 2, 1, *range(3, c.rank() + 1)])
    return c.b.reshape(moved, c.shape)


@direct("affine_grid")
def _affine_grid(c: Call) -> str | None:
    if c.b.opset < 20 or c.dtype is not _core.float32:
        return None
    if c["align_corners"] and 1 in c.fixed(c["size"])[2:]:
        # Runtimes differ in where the only element is.
        return None
    return c.b("AffineGrid", c.x(0), c.b.ints(c["size"]), align_corners=int(c["align_corners"]))


@function("affine_grid")
def _affine_grid_of_parts(c: Call) -> str:
    """The positions with a 1 as the last coordinate, times the matrices."""
    batch, _, *size = c.fixed(c["size"])
    count = len(size)
    total = math.prod(size)
    columns = []
    for axis in reversed(range(count)):
        n = size[axis]
        if c["align_corners"]:
            steps = [-1 + 2 * i / (n - 1) if n > 1 else 0.0 for i in range(n)]
        else:
            steps = [(2 * i + 1) / n - 1 for i in range(n)]
        inner = math.prod(size[axis + 1 :])
        columns.append([steps[position // inner % n] for position in range(total)])
    columns.append([1.0] * total)
    points = c.b.constant([list(row) for row in zip(*columns)], c.dtype)
    found = c.b("MatMul", points, c.b.transpose(c.x(0), [0, 2, 1]))
    return c.b.reshape(found, [batch, *size, count])


@direct("grid_sample")
def _grid_sample(c: Call) -> str | None:
    return _sampled(c, c.dtype) if c.dtype is _core.float32 else None


@function("grid_sample")
def _grid_sample_of_others(c: Call) -> str:
    dtype = _core.float32 if c.dtype in HALVES else c.dtype
    return c.done(_sampled(c, dtype), dtype)


def _sampled(c: Call, dtype: _core.dtype) -> str:
    first = 20 if c.rank() == 5 else 16
    if c.b.opset < first:
        raise NotImplementedError(f"ONNX has it from opset {first} on")
    mode = c["mode"]
    if c.b.opset >= 20:
        mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    return c.b(
        "GridSample",
        c.x(0, dtype),
        c.x(1, dtype),
        mode=mode,
        padding_mode=c["padding_mode"],
        align_corners=int(c["align_corners"]),
    )


@function("embedding_bag")
def _embedding_bag(c: Call) -> str:
    """The rows of each bag: of a matrix of indices, or by a mask of the positions that belong to each bag."""
    padding = c["padding_idx"]
    indices = c.x(1, _core.int64)
    rows = c.b("Gather", c.x(0), indices, axis=0)
    kept = None
    if padding is not None:
        padding = padding if padding >= 0 else padding + c.sizes(0)[0]
        kept = c.b("Not", c.b("Equal", indices, c.scalar(padding, _core.int64)))
    if c.rank(1) == 1:
        return _bags_by_offsets(c, rows, kept)
    if c.has(3):
        rows = c.b("Mul", rows, c.b.unsqueeze(c.x(3), [2]))
    return _bag(c, rows, kept, c.sizes(1)[1])


def _bag(c: Call, rows: str, kept: str | None, count: int) -> str:
    """The reduction of bags over dimension 1 of `rows`, of which some may be left out."""
    if count == 0:
        return c.b.expand(c.scalar(0), c.fixed(c.shape))
    mask = None if kept is None else c.b.unsqueeze(kept, [2])
    if c["mode"] == "max":
        if mask is None:
            return c.b.reduce("ReduceMax", rows, [1], False)
        found = c.b.reduce("ReduceMax", c.b("Where", mask, rows, c.scalar(-math.inf)), [1], False)
        return c.b("Where", c.b("Equal", found, c.scalar(-math.inf)), c.scalar(0), found)
    if mask is not None:
        rows = c.b("Where", mask, rows, c.scalar(0))
    found = c.b.reduce("ReduceSum", rows, [1], False)
    if c["mode"] == "sum":
        return found
    if mask is None:
        return c.b("Div", found, c.scalar(count))
    size = c.b.reduce("ReduceSum", c.b.cast(mask, c.dtype), [1], False)
    return c.b("Div", found, c.b("Max", size, c.scalar(1)))


def _bags_by_offsets(c: Call, rows: str, kept: str | None) -> str:
    count = c.sizes(1)[0]
    bags = c.fixed(c.shape)[0]
    offsets = c.x(2, _core.int64)
    starts = c.b.slice(offsets, 0, 0, bags)
    if c["include_last_offset"]:
        ends = c.b.slice(offsets, 0, 1, bags + 1)
    else:
        ends = c.b("Concat", c.b.slice(offsets, 0, 1, bags), c.b.ints([count]), axis=0)
    places = c.b.ints(range(count))
    first = c.b("GreaterOrEqual", places, c.b.unsqueeze(starts, [1]))
    inside = c.b("And", first, c.b("Less", places, c.b.unsqueeze(ends, [1])))
    if kept is not None:
        inside = c.b("And", inside, kept)
    if c.has(3):
        rows = c.b("Mul", rows, c.b.unsqueeze(c.x(3), [1]))
    return _bag(c, c.b.unsqueeze(rows, [0]), inside, count)
