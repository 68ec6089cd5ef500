"""Export of ops on images, and of embedding bags."""

from __future__ import annotations

import math

from .. import _core
from ._builder import Value
from ._call import Call, direct, function
from ._dtypes import is_exact
from ._to_windows import binned


def _resized(c: Call, x: Value) -> Value:
    """A Resize whose elements are where Lucid has them."""
    mode, scale, aligned = c["mode"], c["scale_factor"], bool(c["align_corners"])
    kind = "nearest" if mode.startswith("nearest") else "cubic" if mode == "bicubic" else "linear"
    where = "align_corners" if aligned else "asymmetric" if mode == "nearest" else "half_pixel"
    a = -0.75 if kind == "cubic" else None
    sizes = scales = None
    # With aligned corners only the sizes matter to Lucid.
    if scale is None or aligned:
        sizes = c.b.ints(c.shape)
    else:
        scales = c.b.constant([1.0, 1.0] + [scale] * (c.rank() - 2), _core.float32)
    attributes = {"mode": kind, "coordinate_transformation_mode": where, "cubic_coeff_a": a}
    rounding = {"nearest": "floor", "nearest-exact": "round_prefer_ceil"}.get(mode)
    return x("Resize", None, scales, sizes, **attributes, nearest_mode=rounding)


@direct("interpolate")
def _interpolate(c: Call) -> Value | None:
    scale = c["scale_factor"]
    is_held = scale is None or c["align_corners"] or is_exact(scale, _core.float32)
    return _resized(c, c.x()) if c.dtype is _core.float32 and c["mode"] != "area" and is_held else None


@function("interpolate")
def _interpolate_of_others(c: Call) -> Value:
    x, shape = c.x(0, c.wide), c.fixed(c.shape)
    if c["mode"] != "area":
        return _resized(c, x)
    sizes = c.sizes()
    return binned(x, "Mean", [(dim, sizes[dim], shape[dim]) for dim in range(2, c.rank())])


def _shuffled(c: Call, parts: list[int], order: list[int]) -> Value:
    """The last three dimensions in parts, which are put in another order. Those before stay."""
    lead = c.sizes()[:-3]
    order = [*range(len(lead)), *(len(lead) + place for place in order)]
    return c.x().reshape([*lead, *parts]).transpose(order).reshape(c.shape)


@direct("pixel_shuffle")
def _pixel_shuffle(c: Call) -> Value:
    r = c["upscale_factor"]
    if c.rank() == 4 and c.dtype in (_core.float32, _core.float64):
        return c.x()("DepthToSpace", blocksize=r, mode="CRD")
    channels, height, width = c.sizes()[-3:]
    return _shuffled(c, [channels // (r * r), r, r, height, width], [0, 3, 1, 4, 2])


@direct("pixel_unshuffle")
def _pixel_unshuffle(c: Call) -> Value:
    r = c["downscale_factor"]
    channels, height, width = c.sizes()[-3:]
    return _shuffled(c, [channels, height // r, r, width // r, r], [0, 2, 4, 1, 3])


@direct("channel_shuffle")
def _channel_shuffle(c: Call) -> Value:
    groups = c["groups"]
    batch, channels, *rest = c.value(0).shape
    parts = c.x().reshape([batch, groups, c.fixed([channels])[0] // groups, *rest])
    return parts.transpose([0, 2, 1, *range(3, c.rank() + 1)]).reshape(c.shape)


@direct("affine_grid")
def _affine_grid(c: Call) -> Value | None:
    if c.b.opset < 20 or c.dtype is not _core.float32:
        return None
    if c["align_corners"] and 1 in c.fixed(c["size"])[2:]:
        # Runtimes differ in where the only element is.
        return None
    return c.x()("AffineGrid", c.b.ints(c["size"]), align_corners=int(c["align_corners"]))


@function("affine_grid")
def _affine_grid_of_parts(c: Call) -> Value:
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
    return points("MatMul", c.x().transpose([0, 2, 1])).reshape([batch, *size, count])


@function("grid_sample")
def _sampled(c: Call) -> Value:
    c.since(20 if c.rank() == 5 else 16)
    mode = c["mode"]
    if c.b.opset >= 20:
        mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    x, grid = c.xs(2, c.wide)
    return x("GridSample", grid, mode=mode, padding_mode=c["padding_mode"], align_corners=int(c["align_corners"]))


direct(grid_sample=lambda c: _sampled(c) if c.dtype is _core.float32 else None)


@function("embedding_bag")
def _embedding_bag(c: Call) -> Value:
    """The rows of each bag: of a matrix of indices, or by a mask of the positions that belong to each bag."""
    padding = c["padding_idx"]
    indices = c.x(1, _core.int64)
    rows = c.x()("Gather", indices, axis=0)
    kept = None
    if padding is not None:
        kept = ~indices.equals(padding if padding >= 0 else padding + c.sizes(0)[0])
    if c.rank(1) == 1:
        return _bags_by_offsets(c, rows, kept)
    if c.has(3):
        rows = rows * c.x(3).unsqueeze(2)
    return _bag(c, rows, kept, c.sizes(1)[1])


def _bag(c: Call, rows: Value, kept: Value | None, count: int) -> Value:
    """The reduction of bags over dimension 1 of `rows`, of which some may be left out."""
    if count == 0:
        return c.scalar(0).expand(c.fixed(c.shape))
    mask = None if kept is None else kept.unsqueeze(2)
    if c["mode"] == "max":
        if mask is None:
            return rows.reduce("Max", [1])
        found = mask.where(rows, -math.inf).reduce("Max", [1])
        return found.equals(-math.inf).where(0, found)
    if mask is not None:
        rows = mask.where(rows, 0)
    found = rows.reduce("Sum", [1])
    if c["mode"] == "sum":
        return found
    return found / (count if mask is None else mask.cast(c.dtype).reduce("Sum", [1])("Max", 1))


def _bags_by_offsets(c: Call, rows: Value, kept: Value | None) -> Value:
    count = c.sizes(1)[0]
    bags = c.fixed(c.shape)[0]
    offsets = c.x(2, _core.int64)
    starts = offsets.slice(0, 0, bags)
    if c["include_last_offset"]:
        ends = offsets.slice(0, 1, bags + 1)
    else:
        ends = c.b.joined([offsets.slice(0, 1, bags), c.b.ints([count])], 0)
    places = c.b.ints(range(count))
    first = places >= starts.unsqueeze(1)
    inside = first & (places < ends.unsqueeze(1))
    if kept is not None:
        inside = inside & kept
    if c.has(3):
        rows = rows * c.x(3).unsqueeze(1)
    return _bag(c, rows.unsqueeze(0), inside, count)
