"""Export of convolutions and pooling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _core
from ._builder import Value
from ._call import Call, direct, function
from ._dtypes import ARRAY_TYPES, FLOATS, is_float, widened


def _named(name: str) -> list[str]:
    """The ops for 1, 2 and 3 dimensions."""
    return [name.format(count) for count in (1, 2, 3)]


def _count(c: Call) -> int:
    """The number of dimensions that the op is named after."""
    return int(c.op.removesuffix("_with_indices")[-2])


def _spread(values: Sequence[int], count: int) -> list[int]:
    """One number for each dimension."""
    return [int(values[0])] * count if len(values) == 1 else [int(value) for value in values]


def _batched(c: Call, count: int, run: Callable[[Value], list[Value]]) -> list[Value]:
    """Runs the op on the first operand with a batch dimension, which is added and removed if there is none."""
    if c.rank() == count + 1:
        return [each.squeeze(0) for each in run(c.value(0).unsqueeze(0))]
    return run(c.value(0))


def _reject_integers(c: Call) -> None:
    if not is_float(c.dtype):
        raise NotImplementedError("ONNX has no convolution of integers of this dtype")


def _convolved(c: Call, x: Value, op: str, **attributes: Any) -> Value:
    count = len(c.value(1).shape) - 2
    strides, dilations = _spread(c["stride"], count), _spread(c["dilation"], count)
    attributes |= {"kernel_shape": c.sizes(1)[2:], "strides": strides, "dilations": dilations, "group": c["groups"]}
    return x(op, c.x(1), c.optional(2), **attributes)


@direct(*_named("conv{}d"))
def _conv(c: Call) -> list[Value]:
    _reject_integers(c)
    count, padding = _count(c), c["padding"]
    # One number for each dimension, or two: before and after it.
    pads = [*padding[::2], *padding[1::2]] if len(padding) == 2 * count else _spread(padding, count) * 2
    return _batched(c, count, lambda x: [_convolved(c, x, "Conv", pads=pads)])


@direct(*_named("conv_transpose{}d"))
def _conv_transpose(c: Call) -> list[Value]:
    _reject_integers(c)
    count = _count(c)
    pads, extra = _spread(c["padding"], count) * 2, _spread(c["output_padding"], count)
    return _batched(c, count, lambda x: [_convolved(c, x, "ConvTranspose", pads=pads, output_padding=extra)])


@function("convolution")
def _convolution(c: Call) -> Value:
    """The general convolution that the others become."""
    _reject_integers(c)
    low, high = list(c["low"]), list(c["high"])
    if c["transposed"] or any(each != 1 for each in c["input_dilation"]):
        raise NotImplementedError("a convolution of a dilated input")
    x = c.x()
    if min([*low, *high, 0]) < 0:
        x = x("Pad", c.b.ints([0, 0, *low, 0, 0, *high]), 0)
        low = high = [0] * (c.rank() - 2)
    return _convolved(c, x, "Conv", pads=[*low, *high])


def _window(c: Call, count: int) -> dict[str, Any]:
    kernel = _spread(c["kernel_size"], count)
    return {"kernel_shape": kernel, "strides": _spread(c["stride"], count) if c["stride"] else kernel}


@direct(*_named("max_pool{}d"))
def _max_pool(c: Call) -> list[Value]:
    count, outputs = _count(c), len(c.results)
    dtype = c.dtype if c.dtype is _core.float16 else c.wide if is_float(c.dtype) else _core.float64

    def pooled(x: Value) -> list[Value]:
        attributes = {**_window(c, count), "ceil_mode": int(c["ceil_mode"])}
        attributes |= {"pads": _spread(c["padding"], count) * 2, "dilations": _spread(c["dilation"], count)}
        values, *places = c.b.many("MaxPool", outputs, x.to(dtype), **attributes)
        return [values.to(c.dtype), *places]

    return _batched(c, count, pooled)


@function(*_named("max_pool{}d_with_indices"))
def _max_pool_indices(c: Call) -> list[Value]:
    """ONNX counts positions over the batch and the channels too."""
    values, places = _max_pool(c)
    return [values, places("Mod", math.prod(c.sizes()[-_count(c) :]))]


def _average(c: Call, count: int, x: Value, includes_padding: bool) -> Value:
    pads = _spread(c.attributes.get("padding", [0]), count) * 2
    attributes = {**_window(c, count), "pads": pads, "ceil_mode": int(c["ceil_mode"])}
    return x("AveragePool", **attributes, count_include_pad=int(includes_padding))


@direct(*_named("avg_pool{}d"))
def _avg_pool(c: Call) -> list[Value] | None:
    if c.attributes.get("divisor_override") is not None or c.dtype not in FLOATS - {_core.bfloat16}:
        return None
    return _avg_pool_of_others(c, c.dtype)


@function(*_named("avg_pool{}d"))
def _avg_pool_of_others(c: Call, dtype: _core.dtype | None = None) -> list[Value]:
    """With a divisor: pads with zeros, takes means of whole windows and scales them."""
    count, divisor = _count(c), c.attributes.get("divisor_override")

    def pooled(x: Value) -> list[Value]:
        x = x.to(dtype or c.wide)
        if divisor is None:
            return [_average(c, count, x, c["count_include_pad"])]
        window, padding = _window(c, count), _spread(c["padding"], count)
        after = list(padding)
        for i, size in enumerate(c.sizes()[-count:]):
            # The windows of the result may reach further than the padding.
            kernel, stride = window["kernel_shape"][i], window["strides"][i]
            reach = (c.fixed(c.shape)[len(c.shape) - count + i] - 1) * stride + kernel
            after[i] = max(after[i], reach - size - padding[i])
        mean = x("Pad", c.b.ints([0, 0, *padding, 0, 0, *after]), 0)("AveragePool", **window)
        return [mean * (math.prod(window["kernel_shape"]) / divisor)]

    return _batched(c, count, pooled)


def _adaptive_dims(c: Call) -> list[tuple[int, int, int]]:
    """Each pooled dimension with its size and its number of bins."""
    sizes, bins = c.sizes(), c.fixed(c.shape)
    return [(dim, sizes[dim], bins[dim]) for dim in range(c.rank() - _count(c), c.rank())]


@direct(*_named("adaptive_avg_pool{}d"))
def _global_average(c: Call) -> Value | None:
    count = _count(c)
    is_global = list(c.shape[-count:]) == [1] * count and c.rank() == count + 2
    return c.x()("GlobalAveragePool") if is_global and c.dtype in FLOATS - {_core.bfloat16} else None


def _edges(size: int, bins: int) -> list[tuple[int, int]]:
    """The start and end of each bin."""
    return [(i * size // bins, -(-(i + 1) * size // bins)) for i in range(bins)]


def binned(x: Value, kind: str, dims: Sequence[tuple[int, int, int]]) -> Value:
    """Reduces each bin of each dimension in turn. Dimensions come with their sizes and numbers of bins."""
    for dim, size, bins in dims:
        parts = [x.slice(dim, start, end).reduce(kind, [dim], True) for start, end in _edges(size, bins)]
        x = x.builder.joined(parts, dim)
    return x


@function(*_named("adaptive_avg_pool{}d"))
def _adaptive_avg(c: Call) -> Value:
    return binned(c.x(0, c.wide), "Mean", [each for each in _adaptive_dims(c) if each[1] != each[2]])


@function(*_named("adaptive_max_pool{}d_with_indices"))
def _adaptive_max(c: Call) -> list[Value]:
    """The maximum of each bin, and the first position in the image where it is."""
    sizes, bins = c.sizes(), c.fixed(c.shape)
    dims = _adaptive_dims(c)
    lead = math.prod(sizes[: dims[0][0]])
    plane = [size for _, size, _ in dims]
    dtype = widened(c.computing)
    lowest = -math.inf if is_float(dtype) else int(np.iinfo(ARRAY_TYPES[dtype]).min)
    flat = c.x(0, dtype).reshape([lead, 1, math.prod(plane)])
    # Which positions each bin covers.
    places_of = list(itertools.product(*map(range, plane)))
    covers = [
        [all(start <= place < end for place, (start, end) in zip(position, bin_)) for position in places_of]
        for bin_ in itertools.product(*(_edges(size, count) for _, size, count in dims))
    ]
    candidates = c.b.constant([covers], _core.bool).where(flat, lowest)
    values = candidates.reduce("Max", [2])
    places = candidates("ArgMax", axis=2, keepdims=0)
    return [values.reshape(bins).to(c.dtype), places.reshape(bins)]


@function(*_named("lp_pool{}d"))
def _lp_pool(c: Call) -> list[Value]:
    count, p = _count(c), c["norm_type"]

    def pooled(x: Value) -> list[Value]:
        total = _average(c, count, x("Pow", p), True) * math.prod(_window(c, count)["kernel_shape"])
        return [(total("Sign") * total("Abs")("Relu"))("Pow", 1 / p)]

    return _batched(c, count, pooled)


def _positions(c: Call, size: list[int]) -> tuple[list[list[int]], int]:
    """For each element of a window the positions in the padded image that it takes, and the area of that image."""
    names = ("kernel_size", "dilation", "padding", "stride")
    kernel, dilation, padding, stride = (_spread(c[name], 2) for name in names)
    height, width = (size[i] + 2 * padding[i] for i in range(2))
    spans = [dilation[i] * (kernel[i] - 1) + 1 for i in range(2)]
    rows, columns = (height - spans[0]) // stride[0] + 1, (width - spans[1]) // stride[1] + 1
    starts = [row * stride[0] * width + column * stride[1] for row in range(rows) for column in range(columns)]
    taps = [i * dilation[0] * width + j * dilation[1] for i in range(kernel[0]) for j in range(kernel[1])]
    return [[start + tap for start in starts] for tap in taps], height * width


@function("unfold")
def _unfold(c: Call) -> list[Value]:
    def unfolded(x: Value) -> list[Value]:
        batch, channels, *size = ([1] if c.rank() == 3 else []) + c.sizes()
        rows, columns = _spread(c["padding"], 2)
        x = x("Pad", c.b.ints([0, 0, rows, columns, 0, 0, rows, columns]), 0)
        positions, area = _positions(c, size)
        windows = x.reshape([batch, channels, area])("Gather", c.b.constant(positions, _core.int64), axis=2)
        return [windows.reshape([batch, channels * len(positions), len(positions[0])])]

    return _batched(c, 2, unfolded)


@function("fold")
def _fold(c: Call) -> Value:
    c.since(16, "ONNX adds to elements")
    missing = c.rank() == 2
    batch, rows, count = ([1] if missing else []) + c.sizes()
    height, width = _spread(c["output_size"], 2)
    positions, area = _positions(c, [height, width])
    channels = rows // len(positions)
    top, left = _spread(c["padding"], 2)
    flat = c.x().reshape([batch * channels, len(positions) * count])
    places = c.b.constant([[place for row in positions for place in row]], _core.int64)
    zeros = c.scalar(0).expand([batch * channels, area])
    places = places.expand([batch * channels, len(positions) * count])
    summed = zeros("ScatterElements", places, flat, axis=1, reduction="add")
    image = summed.reshape([batch, channels, height + 2 * top, width + 2 * left])
    image = image.slice(2, top, top + height).slice(3, left, left + width)
    return image.squeeze(0) if missing else image


@function(*_named("max_unpool{}d"))
def _max_unpool(c: Call) -> Value:
    count = _count(c)
    shape, sizes = c.fixed(c.shape), c.sizes()
    lead = math.prod(shape[:-count])
    taken = math.prod(sizes[-count:])
    zeros = c.scalar(0).expand([lead, math.prod(shape[-count:])])
    places = c.value(1).reshape([lead, taken])
    return zeros("ScatterElements", places, c.x().reshape([lead, taken]), axis=1).reshape(shape)
