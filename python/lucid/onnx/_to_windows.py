"""Export of convolutions and pooling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _core
from ._call import Call, direct, function, is_float
from ._dtypes import ARRAY_TYPES, HALVES
from ._to_pointwise import computing


def spread(values: Sequence[int], count: int) -> list[int]:
    """One number for each dimension."""
    return [int(values[0])] * count if len(values) == 1 else [int(value) for value in values]


def batched(c: Call, count: int, position: int = 0) -> tuple[str, bool]:
    """An operand with a batch dimension, and whether it was added."""
    x = c.x(position)
    missing = c.rank(position) == count + 1
    return (c.b.unsqueeze(x, [0]) if missing else x), missing


def unbatched(c: Call, name: str, was_missing: bool) -> str:
    return c.b.squeeze(name, [0]) if was_missing else name


def _pads(padding: Sequence[int], count: int) -> list[int]:
    """Before and after each dimension, in ONNX's order."""
    if len(padding) == 2 * count:
        return [*(int(each) for each in padding[::2]), *(int(each) for each in padding[1::2])]
    return spread(padding, count) * 2


def _reject_integers(c: Call) -> None:
    if not is_float(c.dtype):
        raise NotImplementedError("ONNX has no convolution of integers of this dtype")


@direct("conv1d", "conv2d", "conv3d")
def _conv(c: Call) -> str:
    _reject_integers(c)
    count = int(c.op[-2])
    padding = c["padding"]
    # One number for each of two dimensions, or two for one dimension.
    if count == 2 and len(padding) == 2:
        padding = (padding[0], padding[0], padding[1], padding[1])
    x, missing = batched(c, count)
    found = c.b(
        "Conv",
        x,
        c.x(1),
        c.optional(2),
        kernel_shape=c.sizes(1)[2:],
        strides=spread(c["stride"], count),
        pads=_pads(padding, count),
        dilations=spread(c["dilation"], count),
        group=c["groups"],
    )
    return unbatched(c, found, missing)


@direct("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _conv_transpose(c: Call) -> str:
    _reject_integers(c)
    count = int(c.op[-2])
    x, missing = batched(c, count)
    found = c.b(
        "ConvTranspose",
        x,
        c.x(1),
        c.optional(2),
        kernel_shape=c.sizes(1)[2:],
        strides=spread(c["stride"], count),
        pads=spread(c["padding"], count) * 2,
        output_padding=spread(c["output_padding"], count),
        dilations=spread(c["dilation"], count),
        group=c["groups"],
    )
    return unbatched(c, found, missing)


@function("convolution")
def _convolution(c: Call) -> str:
    """The general convolution that the others become."""
    _reject_integers(c)
    count = c.rank() - 2
    low, high = list(c["low"]), list(c["high"])
    if c["transposed"] or any(each != 1 for each in c["input_dilation"]):
        raise NotImplementedError("a convolution of a dilated input")
    x = c.x(0)
    if min([*low, *high, 0]) < 0:
        x = c.b("Pad", x, c.b.ints([0, 0, *low, 0, 0, *high]), c.scalar(0))
        low = high = [0] * count
    return c.b(
        "Conv",
        x,
        c.x(1),
        c.optional(2),
        kernel_shape=c.sizes(1)[2:],
        strides=list(c["stride"]),
        pads=[*low, *high],
        dilations=list(c["dilation"]),
        group=c["groups"],
    )


def _window(c: Call, count: int) -> dict[str, Any]:
    kernel = spread(c["kernel_size"], count)
    stride = c["stride"]
    return {"kernel_shape": kernel, "strides": kernel if not stride else spread(stride, count)}


def _max_pool(c: Call, outputs: int) -> list[str]:
    count = int(c.op[8])
    dtype = _core.float32 if c.dtype not in (_core.float32, _core.float16) else c.dtype
    if dtype is not c.dtype and c.dtype is not _core.bfloat16:
        dtype = _core.float64
    x, missing = batched(c, count)
    if dtype is not c.dtype:
        x = c.b.cast(x, dtype)
    found = c.b.many(
        "MaxPool",
        outputs,
        x,
        **_window(c, count),
        pads=spread(c["padding"], count) * 2,
        dilations=spread(c["dilation"], count),
        ceil_mode=int(c["ceil_mode"]),
    )
    found[0] = c.done(found[0], dtype)
    return [unbatched(c, each, missing) for each in found]


@direct("max_pool1d", "max_pool2d", "max_pool3d")
def _max_pool_values(c: Call) -> str:
    return _max_pool(c, 1)[0]


@function("max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices")
def _max_pool_indices(c: Call) -> list[str]:
    """ONNX counts positions over the batch and the channels too."""
    count = int(c.op[8])
    values, places = _max_pool(c, 2)
    plane = math.prod(c.sizes()[-count:])
    return [values, c.b("Mod", places, c.scalar(plane, _core.int64))]


def _average(c: Call, count: int, x: str, includes_padding: bool) -> str:
    # The attribute came with opset 19, but only its default is needed.
    return c.b(
        "AveragePool",
        x,
        **_window(c, count),
        pads=spread(c.attributes.get("padding", [0]), count) * 2,
        ceil_mode=int(c["ceil_mode"]),
        count_include_pad=int(includes_padding),
    )


@direct("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _avg_pool(c: Call) -> str | None:
    count = int(c.op[-2])
    if c.attributes.get("divisor_override") is not None or c.dtype not in (_core.float32, _core.float64, _core.float16):
        return None
    x, missing = batched(c, count)
    return unbatched(c, _average(c, count, x, c["count_include_pad"]), missing)


@function("avg_pool1d", "avg_pool2d", "avg_pool3d")
def _avg_pool_with_divisor(c: Call) -> str:
    """Pads with zeros, takes means of whole windows and scales them."""
    count = int(c.op[-2])
    x, missing = batched(c, count)
    dtype = _core.float32 if c.dtype in HALVES else c.dtype
    if dtype is not c.dtype:
        x = c.b.cast(x, dtype)
    window = _window(c, count)
    if c.attributes.get("divisor_override") is None:
        return c.done(unbatched(c, _average(c, count, x, c["count_include_pad"]), missing), dtype)
    padding = spread(c["padding"], count)
    after = list(padding)
    for i, size in enumerate(c.sizes()[-count:]):
        # The windows of the result may reach further than the padding.
        kernel, stride = window["kernel_shape"][i], window["strides"][i]
        reach = (c.fixed(c.shape)[len(c.shape) - count + i] - 1) * stride + kernel
        after[i] = max(after[i], reach - size - padding[i])
    x = c.b("Pad", x, c.b.ints([0, 0, *padding, 0, 0, *after]), c.scalar(0, dtype))
    mean = c.b("AveragePool", x, **window)
    scale = math.prod(window["kernel_shape"]) / c["divisor_override"]
    return c.done(unbatched(c, c.b("Mul", mean, c.scalar(scale, dtype)), missing), dtype)


def _adaptive_dims(c: Call) -> list[tuple[int, int, int]]:
    """Each pooled dimension with its size and its number of bins."""
    count = int(c.op.removesuffix("_with_indices")[-2])
    first = c.rank() - count
    sizes, bins = c.sizes(), c.fixed(c.shape)
    return [(dim, sizes[dim], bins[dim]) for dim in range(first, c.rank())]


@direct("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def _global_average(c: Call) -> str | None:
    count = int(c.op[-2])
    if list(c.shape[-count:]) != [1] * count or c.dtype not in (_core.float32, _core.float64, _core.float16):
        return None
    if c.rank() == count + 2:
        return c.b("GlobalAveragePool", c.x(0))
    return None


def _binned(c: Call, x: str, op: str) -> str:
    """Reduces each bin of each dimension in turn."""
    for dim, size, bins in _adaptive_dims(c):
        if size == bins:
            continue
        edges = [(i * size // bins, -(-(i + 1) * size // bins)) for i in range(bins)]
        parts = [c.b.reduce(op, c.b.slice(x, dim, start, end), [dim], True) for start, end in edges]
        x = c.b("Concat", *parts, axis=dim) if len(parts) > 1 else parts[0]
    return x


@function("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def _adaptive_avg(c: Call) -> str:
    dtype = _core.float32 if c.dtype in HALVES else c.dtype
    return c.done(_binned(c, c.x(0, dtype), "ReduceMean"), dtype)


@function("adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d_with_indices")
def _adaptive_max(c: Call) -> list[str]:
    """The maximum of each bin, and the first position in the image where it is."""
    sizes, bins = c.sizes(), c.fixed(c.shape)
    dims = _adaptive_dims(c)
    first = dims[0][0]
    lead = math.prod(sizes[:first])
    plane = [size for _, size, _ in dims]
    dtype = _core.float32 if c.dtype in HALVES else computing(c.dtype)
    lowest = -math.inf if is_float(dtype) else int(np.iinfo(ARRAY_TYPES[dtype]).min)
    flat = c.b.reshape(c.x(0, dtype), [lead, 1, math.prod(plane)])
    # Which positions each bin covers.
    covers = []
    for bin_ in itertools.product(*(range(count) for _, _, count in dims)):
        inside = [
            all(
                i * size // count <= place < -(-(i + 1) * size // count)
                for i, place, (_, size, count) in zip(bin_, position, dims)
            )
            for position in itertools.product(*map(range, plane))
        ]
        covers.append(inside)
    mask = c.b.constant([covers], _core.bool)
    spread_out = c.b("Where", mask, flat, c.scalar(lowest, dtype))
    values = c.b.reduce("ReduceMax", spread_out, [2], False)
    places = c.b("ArgMax", spread_out, axis=2, keepdims=0)
    return [c.done(c.b.reshape(values, bins), dtype), c.b.reshape(places, bins)]


@function("lp_pool1d", "lp_pool2d", "lp_pool3d")
def _lp_pool(c: Call) -> str:
    count = int(c.op[-2])
    x, missing = batched(c, count)
    p = c["norm_type"]
    powers = c.b("Pow", x, c.scalar(p))
    mean = _average(c, count, powers, True)
    total = c.b("Mul", mean, c.scalar(math.prod(_window(c, count)["kernel_shape"])))
    signed = c.b("Mul", c.b("Sign", total), c.b("Relu", c.b("Abs", total)))
    return unbatched(c, c.b("Pow", signed, c.scalar(1 / p)), missing)


def _positions(c: Call, size: list[int]) -> tuple[list[list[int]], int]:
    """For each element of a window the positions in the padded image that it takes, and the padded width."""
    kernel, dilation = spread(c["kernel_size"], 2), spread(c["dilation"], 2)
    padding, stride = spread(c["padding"], 2), spread(c["stride"], 2)
    padded = [size[i] + 2 * padding[i] for i in range(2)]
    counts = [(padded[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(2)]
    return [
        [
            (row * stride[0] + i * dilation[0]) * padded[1] + column * stride[1] + j * dilation[1]
            for row in range(counts[0])
            for column in range(counts[1])
        ]
        for i in range(kernel[0])
        for j in range(kernel[1])
    ], padded[0] * padded[1]


@function("unfold")
def _unfold(c: Call) -> str:
    x, missing = batched(c, 2)
    batch, channels, *size = ([1] if missing else []) + c.sizes()
    rows, columns = spread(c["padding"], 2)
    x = c.b("Pad", x, c.b.ints([0, 0, rows, columns, 0, 0, rows, columns]), c.scalar(0))
    positions, area = _positions(c, size)
    flat = c.b.reshape(x, [batch, channels, area])
    windows = c.b("Gather", flat, c.b.constant(positions, _core.int64), axis=2)
    found = c.b.reshape(windows, [batch, channels * len(positions), len(positions[0])])
    return unbatched(c, found, missing)


@function("fold")
def _fold(c: Call) -> str:
    if c.b.opset < 16:
        raise NotImplementedError("ONNX adds to elements from opset 16 on")
    missing = c.rank() == 2
    batch, rows, count = ([1] if missing else []) + c.sizes()
    height, width = spread(c["output_size"], 2)
    positions, area = _positions(c, [height, width])
    channels = rows // len(positions)
    top, left = spread(c["padding"], 2)
    flat = c.b.reshape(c.x(0), [batch * channels, len(positions) * count])
    places = c.b.constant([[place for row in positions for place in row]], _core.int64)
    zeros = c.b.expand(c.scalar(0), [batch * channels, area])
    places = c.b.expand(places, [batch * channels, len(positions) * count])
    summed = c.b("ScatterElements", zeros, places, flat, axis=1, reduction="add")
    image = c.b.reshape(summed, [batch, channels, height + 2 * top, width + 2 * left])
    image = c.b.slice(c.b.slice(image, 2, top, top + height), 3, left, left + width)
    return unbatched(c, image, missing)


@function("max_unpool1d", "max_unpool2d", "max_unpool3d")
def _max_unpool(c: Call) -> str:
    count = int(c.op[-2])
    shape, sizes = c.fixed(c.shape), c.sizes()
    lead, plane = math.prod(shape[:-count]), math.prod(shape[-count:])
    taken = math.prod(sizes[-count:])
    zeros = c.b.expand(c.scalar(0), [lead, plane])
    places = c.b.reshape(c.x(1), [lead, taken])
    return c.b.reshape(c.b("ScatterElements", zeros, places, c.b.reshape(c.x(0), [lead, taken]), axis=1), shape)
