"""Nodes of loaded models that move elements, index and create tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core, _effects
from .._overloads import broadcast_shapes
from ._node import Node, array, axes_of, created, integer, ints, ops, option, padded, ranged, runs, tensor, wanted_dtype
from ._pairs import SCATTERS

_effects.pure_module()

_MAX_PADDING = 2**26


def new_shape(node: Node, x: Any, shape: Any) -> list[int]:
    """The operand `shape` of a Reshape, in which 0 may mean the size that there is."""
    sizes = ints(node, shape, "shape")
    if node.get("allowzero"):
        return sizes
    if any(size == 0 and dim >= x.ndim for dim, size in enumerate(sizes)):
        node.fail("shape copies a dimension that the operand does not have")
    return [x.shape[dim] if size == 0 else size for dim, size in enumerate(sizes)]


@runs("Reshape", known=(1,))
def _reshape(node: Node, x: Any, shape: Any) -> Any:
    return ops["reshape"](x, new_shape(node, x, shape))


@runs("Flatten")
def _flatten(node: Node, x: Any) -> Any:
    axis = node.get("axis")
    if not -x.ndim <= axis <= x.ndim:
        node.fail(f"axis is {axis}, but the operand has {x.ndim} dimensions")
    axis = axis if axis >= 0 else axis + x.ndim
    return ops["reshape"](x, [math.prod(x.shape[:axis]), math.prod(x.shape[axis:])])


@runs("Squeeze", known=(1,))
def _squeeze(node: Node, x: Any, axes: Any = None) -> Any:
    if axes is None:
        return ops["squeeze"](x)
    dims = axes_of(node, ints(node, axes, "axes"), x.ndim)
    if any(x.shape[dim] != 1 for dim in dims):
        node.fail(f"axes {dims} of shape {tuple(x.shape)} are not all 1")
    return ops["squeeze"](x, dims)


@runs("Unsqueeze", known=(1,))
def _unsqueeze(node: Node, x: Any, axes: Any) -> Any:
    given = ints(node, axes, "axes")
    dims = axes_of(node, given, x.ndim + len(given))
    for dim in sorted(dims):
        x = ops["unsqueeze"](x, dim)
    return x


@runs("Transpose")
def _transpose(node: Node, x: Any) -> Any:
    return ops["permute"](x, list(node.get("perm", range(x.ndim - 1, -1, -1))))


@runs("Expand", known=(1,))
def _expand(node: Node, x: Any, shape: Any) -> Any:
    return ops["expand"](x, broadcast_shapes(tuple(x.shape), tuple(ints(node, shape, "shape"))))


@runs("Tile", known=(1,))
def _tile(node: Node, x: Any, repeats: Any) -> Any:
    return ops["repeat"](x, ints(node, repeats, "repeats"))


def slices_of(node: Node, rank: int, starts: Any, ends: Any, axes: Any, steps: Any) -> list[tuple[int, int, int, int]]:
    """The operands of a Slice: dimensions with start, end and step."""
    first, last = ints(node, starts, "starts"), ints(node, ends, "ends")
    dims = list(range(len(first))) if axes is None else ints(node, axes, "axes")
    strides = [1] * len(first) if steps is None else ints(node, steps, "steps")
    if not len(first) == len(last) == len(dims) == len(strides):
        node.fail("starts, ends, axes and steps differ in length")
    if 0 in strides:
        node.fail("a step is 0")
    return list(zip(axes_of(node, dims, rank), first, last, strides))


@runs("Slice", known=(1, 2, 3, 4))
def _slice(node: Node, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    for dim, start, end, step in slices_of(node, x.ndim, starts, ends, axes, steps):
        start, end, step = slice(start, end, step).indices(x.shape[dim])
        if step > 0:
            x = ops["slice"](x, dim, start, max(start, end), step)
        else:
            # The same elements in ascending order, then reversed.
            count = max(0, -(-(start - end) // -step))
            lowest = start + (count - 1) * step if count else 0
            x = ops["slice"](x, dim, lowest, start + 1 if count else 0, -step)
            x = ops["flip"](x, [dim])
    return x


@runs("Split", known=(1,))
def _split(node: Node, x: Any, split: Any = None) -> Any:
    axis = node.axis(x.ndim)
    size = x.shape[axis]
    if split is not None:
        sizes = ints(node, split, "split")
    else:
        each = -(-size // node.outputs)
        sizes = [min(each, max(0, size - each * i)) for i in range(node.outputs)]
    if len(sizes) != node.outputs or sum(sizes) != size or min(sizes, default=0) < 0:
        node.fail(f"split into {sizes} does not fit size {size} and {node.outputs} outputs")
    return tuple(ops["split"](x, sizes, axis))


@runs("Concat")
def _concat(node: Node, *parts: Any) -> Any:
    return ops["cat"](list(parts), node.axis(parts[0].ndim))


@runs("Pad", known=(1, 2, 3))
def _pad(node: Node, x: Any, pads: Any, value: Any = None, axes: Any = None) -> Any:
    given = ints(node, pads, "pads")
    dims = list(range(x.ndim)) if axes is None else axes_of(node, ints(node, axes, "axes"), x.ndim)
    if len(given) != 2 * len(dims):
        node.fail(f"pads has {len(given)} numbers for {len(dims)} dimensions")
    before, after = [0] * x.ndim, [0] * x.ndim
    for place, dim in enumerate(dims):
        before[dim], after[dim] = given[place], given[place + len(dims)]
    mode = option(node, "mode", ("constant", "reflect", "edge", "wrap"))
    if mode != "constant":
        for dim in range(x.ndim):
            x = _repeated(node, x, dim, before[dim], after[dim], mode)
        return x
    fill = 0 if value is None else array(node, value, "constant_value").item()
    if x.dtype is _core.bool:
        return padded(x.to(_core.uint8), before, after, float(fill)).to(_core.bool)
    return padded(x, before, after, float(fill))


def _repeated(node: Node, x: Any, dim: int, before: int, after: int, mode: str) -> Any:
    """Takes elements of a dimension in the order that its padding repeats them."""
    if before == after == 0:
        return x
    size = x.shape[dim]
    if size == 0 or max(before, after) > _MAX_PADDING:
        node.fail(f"a dimension of {size} elements cannot be padded with {max(before, after)} of its elements")
    places = np.arange(-before, size + after)
    if mode == "edge":
        places = places.clip(0, size - 1)
    elif mode == "wrap":
        places = places % size
    else:
        period = max(2 * size - 2, 1)
        places = places % period
        places = np.where(places >= size, period - places, places)
    return ops["index_select"](x, dim, tensor(places))


@runs("DepthToSpace")
def _depth_to_space(node: Node, x: Any) -> Any:
    r = node.get("blocksize")
    if x.ndim != 4 or r < 1 or x.shape[1] % (r * r):
        node.fail("the operand must have 4 dimensions and channels for each place of a block")
    if option(node, "mode", ("DCR", "CRD")) == "CRD":
        return ops["pixel_shuffle"](x, r)
    batch, channels, height, width = x.shape
    depth = channels // (r * r)
    moved = ops["permute"](ops["reshape"](x, [batch, r, r, depth, height, width]), [0, 3, 4, 1, 5, 2])
    return ops["reshape"](moved, [batch, depth, height * r, width * r])


@runs("SpaceToDepth")
def _space_to_depth(node: Node, x: Any) -> Any:
    r = node.get("blocksize")
    if x.ndim != 4 or r < 1 or x.shape[2] % r or x.shape[3] % r:
        node.fail("the operand must have 4 dimensions that blocks divide")
    batch, channels, height, width = x.shape
    parts = ops["reshape"](x, [batch, channels, height // r, r, width // r, r])
    order = [0, 3, 5, 1, 2, 4] if option(node, "mode", ("DCR", "CRD")) == "DCR" else [0, 1, 3, 5, 2, 4]
    return ops["reshape"](ops["permute"](parts, order), [batch, channels * r * r, height // r, width // r])


@runs("Trilu", known=(1,))
def _trilu(node: Node, x: Any, k: Any = None) -> Any:
    offset = 0 if k is None else integer(node, k, "k")
    return ops["triu" if node.get("upper") else "tril"](x, offset)


@runs("CenterCropPad", known=(1,))
def _center_crop_pad(node: Node, x: Any, shape: Any) -> Any:
    sizes = ints(node, shape, "shape")
    dims = axes_of(node, node.get("axes", list(range(x.ndim))), x.ndim)
    for dim, size in zip(dims, sizes):
        have = x.shape[dim]
        if size < have:
            x = ops["narrow"](x, dim, (have - size) // 2, size)
        elif size > have:
            before, others = (size - have) // 2, [0] * (x.ndim - dim - 1)
            x = padded(x, [before, *others], [size - have - before, *others])
    return x


@runs("ReverseSequence")
def _reverse_sequence(node: Node, x: Any, lengths: Any) -> Any:
    time, batch = node.get("time_axis"), node.get("batch_axis")
    if {time, batch} != {0, 1} or x.ndim < 2:
        node.fail("time_axis and batch_axis must be 0 and 1")
    steps = ops["reshape"](created("arange", x.shape[time]), [-1, 1] if time == 0 else [1, -1])
    ends = ops["reshape"](lengths, [1, -1] if time == 0 else [-1, 1])
    places = ops["where"](ops["lt"](steps, ends), ops["sub"](ops["sub"](ends, 1), steps), steps)
    places = ops["reshape"](places, [*places.shape] + [1] * (x.ndim - 2))
    return ops["gather"](x, time, ops["expand"](places, list(x.shape)))


# Indexing.


def _positive(index: Any, size: int) -> Any:
    """Indices counted from 0."""
    return ops["where"](ops["lt"](index, 0), ops["add"](index, size), index)


@runs("Gather", known=(1,))
def _gather(node: Node, x: Any, index: Any) -> Any:
    axis = node.axis(x.ndim)
    if isinstance(index, np.ndarray) and index.ndim == 0:
        return ops["select"](x, axis, int(index))
    if isinstance(index, np.ndarray):
        index = np.where(index < 0, index + x.shape[axis], index).astype(np.int64)
        index = tensor(index)
    elif axis == 0:
        # Takes negative indices as they are.
        return ops["index"](x, [index.to(_core.int64)])
    else:
        index = _positive(index.to(_core.int64), x.shape[axis])
    found = ops["index_select"](x, axis, index.reshape(-1))
    return ops["reshape"](found, [*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]])


@runs("GatherElements")
def _gather_elements(node: Node, x: Any, index: Any) -> Any:
    axis = node.axis(x.ndim)
    return ops["gather"](x, axis, _positive(index.to(_core.int64), x.shape[axis]))


@runs("GatherND")
def _gather_nd(node: Node, x: Any, index: Any) -> Any:
    batch = node.get("batch_dims")
    if not 0 <= batch < min(x.ndim, index.ndim):
        node.fail(f"batch_dims is {batch}")
    count = index.shape[-1]
    if not 0 < count <= x.ndim - batch:
        node.fail(f"indices name {count} dimensions")
    parts = [ops["select"](index, -1, i) for i in range(count)]
    for dim in reversed(range(batch)):
        own = created("arange", x.shape[dim]).reshape([-1 if d == dim else 1 for d in range(index.ndim - 1)])
        parts.insert(0, ops["expand"](own, list(index.shape[:-1])))
    return ops["index"](x, parts)


@runs("ScatterElements")
def _scatter_elements(node: Node, x: Any, index: Any, updates: Any) -> Any:
    axis = node.axis(x.ndim)
    index = _positive(index.to(_core.int64), x.shape[axis])
    return ops[SCATTERS[option(node, "reduction", SCATTERS)]](x, axis, index, updates)


@runs("ScatterND")
def _scatter_nd(node: Node, x: Any, index: Any, updates: Any) -> Any:
    count = index.shape[-1]
    if not 0 < count <= x.ndim:
        node.fail(f"indices name {count} dimensions")
    reduction = option(node, "reduction", SCATTERS)
    parts = [ops["select"](index, -1, i) for i in range(count)]
    if reduction in ("none", "add"):
        return ops["index_put"](x, updates, parts, reduction == "add")
    # One position in the flattened leading dimensions.
    lead, rest = list(x.shape[:count]), math.prod(x.shape[count:])
    place = _positive(parts[0], lead[0])
    for part, size in zip(parts[1:], lead[1:]):
        place = ops["add"](ops["mul"](place, size), _positive(part, size))
    flat = ops["reshape"](x, [math.prod(lead), rest])
    rows = ops["expand"](ops["reshape"](place, [-1, 1]), [place.numel(), rest])
    done = ops[SCATTERS[reduction]](flat, 0, rows, ops["reshape"](updates, [place.numel(), rest]))
    return ops["reshape"](done, list(x.shape))


@runs("OneHot", known=(1,))
def _one_hot(node: Node, index: Any, depth: Any, values: Any) -> Any:
    axis = node.get("axis")
    count = int(array(node, depth, "depth").reshape(-1)[0])
    if not -index.ndim - 1 <= axis <= index.ndim or count < 1:
        node.fail(f"axis is {axis} and depth {count}")
    axis = axis % (index.ndim + 1)
    index = index.to(_core.int64)
    hit = ops["eq"](ops["unsqueeze"](_positive(index, count), axis), ranged(count, index.ndim + 1 - axis))
    return ops["where"](hit, ops["select"](values, 0, 1), ops["select"](values, 0, 0))


@runs("Compress")
def _compress(node: Node, x: Any, condition: Any) -> Any:
    kept = ops["nonzero"](condition).reshape(-1)
    if node.get("axis") is None:
        return ops["index_select"](x.reshape(-1), 0, kept)
    return ops["index_select"](x, node.axis(x.ndim), kept)


# Creation.


@runs("Shape")
def shape_of(node: Node, x: Any) -> Any:
    shape = [int(size) for size in x.shape]
    return np.array(shape[node.get("start", 0) : node.get("end", len(shape))], np.int64)


@runs("Size")
def size_of(node: Node, x: Any) -> Any:
    return np.array(math.prod(x.shape), np.int64)


@runs("ConstantOfShape", known=(0,))
def _constant_of_shape(node: Node, shape: Any) -> Any:
    value = node.get("value", np.zeros(1, np.float32))
    fill = tensor(value)
    if fill.numel() != 1:
        node.fail("value must have one element")
    return created("full", ints(node, shape, "shape"), fill.item(), dtype=fill.dtype)


@runs("Range", known=(0, 1, 2))
def _range(node: Node, start: Any, limit: Any, delta: Any) -> Any:
    dtype = tensor(start).dtype
    bounds = [array(node, value, "a bound") for value in (start, limit, delta)]
    first, last, step = (bound.reshape(-1)[0].item() for bound in bounds)
    if step == 0:
        node.fail("delta is 0")
    count = max(0, math.ceil((last - first) / step))
    return ops["add"](ops["mul"](created("arange", count), step), first).to(dtype)


@runs("EyeLike")
def _eye_like(node: Node, x: Any) -> Any:
    if x.ndim != 2:
        node.fail("the operand must be a matrix")
    dtype = x.dtype if node.get("dtype") is None else wanted_dtype(node, node.get("dtype"))
    rows, columns = created("arange", x.shape[0]).reshape(-1, 1), created("arange", x.shape[1])
    return ops["eq"](ops["sub"](columns, rows), node.get("k")).to(dtype)
