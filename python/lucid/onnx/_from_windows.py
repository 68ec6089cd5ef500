"""Convolutions and pooling of loaded models."""

from __future__ import annotations

import math
from typing import Any

from .. import _core, _effects
from ._dtypes import FLOATS
from ._node import Node, created, ints, ops, option, runs, tensor

_effects.pure_module()

_MAX_ELEMENTS = 2**62


def _spread(node: Node, name: str, count: int, default: int) -> list[int]:
    values = node.get(name)
    if values is None:
        return [default] * count
    if len(values) != count:
        node.fail(f"{name} must have {count} numbers, got {len(values)}")
    return list(values)


def _window(node: Node, x: Any, kernel: list[int]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Strides, dilations, and the padding before and after."""
    count = x.ndim - 2
    if count < 1 or len(kernel) != count or min(kernel) < 1:
        node.fail(f"kernel_shape {kernel} does not fit an operand with {x.ndim} dimensions")
    strides, dilations = _spread(node, "strides", count, 1), _spread(node, "dilations", count, 1)
    if min([*strides, *dilations]) < 1:
        node.fail("strides and dilations must be positive")
    mode = option(node, "auto_pad", "NOTSET", ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"))
    if mode == "NOTSET":
        pads = node.get("pads", [0] * (2 * count))
        if len(pads) != 2 * count or min(pads) < 0:
            node.fail(f"pads {list(pads)} are not {2 * count} numbers from 0 on")
        return strides, dilations, list(pads[:count]), list(pads[count:])
    if mode == "VALID":
        return strides, dilations, [0] * count, [0] * count
    low, high = [], []
    for size, kernel_size, stride, dilation in zip(x.shape[2:], kernel, strides, dilations):
        total = max(0, (-(-size // stride) - 1) * stride + (kernel_size - 1) * dilation + 1 - size)
        small, large = total // 2, total - total // 2
        low.append(small if mode == "SAME_UPPER" else large)
        high.append(large if mode == "SAME_UPPER" else small)
    return strides, dilations, low, high


@runs("Conv")
def _conv(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    x, weight = tensor(x), tensor(weight)
    count = x.ndim - 2
    if count not in (1, 2, 3) or weight.ndim != x.ndim:
        node.unsupported(f"a convolution of {x.ndim} dimensions")
    strides, dilations, low, high = _window(node, x, list(weight.shape[2:]))
    padding = [size for pair in zip(low, high) for size in pair]
    bias = None if bias is None else tensor(bias)
    return ops[f"conv{count}d"](x, weight, bias, strides, padding, dilations, node.get("group", 1))


@runs("ConvInteger")
def _conv_integer(node: Node, x: Any, weight: Any, x_zero: Any = None, w_zero: Any = None) -> Any:
    """In f64, which holds the products and sums exactly."""
    x, weight = tensor(x).to(_core.float64), tensor(weight).to(_core.float64)
    if x_zero is not None:
        x = ops["sub"](x, tensor(x_zero).to(_core.float64))
    if w_zero is not None:
        zero = tensor(w_zero).to(_core.float64)
        weight = ops["sub"](weight, zero if zero.ndim == 0 else zero.reshape([-1] + [1] * (weight.ndim - 1)))
    return _conv(node, x, weight).to(_core.int32)


@runs("ConvTranspose")
def _conv_transpose(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    x, weight = tensor(x), tensor(weight)
    count = x.ndim - 2
    if count not in (1, 2, 3) or weight.ndim != x.ndim:
        node.unsupported(f"a convolution of {x.ndim} dimensions")
    kernel = list(weight.shape[2:])
    strides, dilations = _spread(node, "strides", count, 1), _spread(node, "dilations", count, 1)
    extra = _spread(node, "output_padding", count, 0)
    mode = option(node, "auto_pad", "NOTSET", ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"))
    spans = [(x.shape[2 + i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 for i in range(count)]
    wanted = node.get("output_shape")
    pads = list(node.get("pads", [0] * (2 * count)))
    if wanted is not None or mode.startswith("SAME"):
        sizes = list(wanted)[-count:] if wanted is not None else [x.shape[2 + i] * strides[i] for i in range(count)]
        totals = [spans[i] + extra[i] - sizes[i] for i in range(count)]
        small = [max(0, total) // 2 for total in totals]
        large = [max(0, total) - half for total, half in zip(totals, small)]
        # What the windows do not reach is added at the end.
        extra = [extra[i] + max(0, -totals[i]) for i in range(count)]
        pads = [*small, *large] if mode == "SAME_UPPER" else [*large, *small]
    bias = None if bias is None else tensor(bias)
    low, high = pads[:count], pads[count:]
    op, group = ops[f"conv_transpose{count}d"], node.get("group", 1)
    simple = low == high and all(e < max(s, d) for e, s, d in zip(extra, strides, dilations))
    if simple:
        return op(x, weight, bias, strides, low, extra, group, dilations)
    # The whole result, which is then cropped, or padded where no window reaches.
    whole = op(x, weight, None, strides, [0], [0], group, dilations)
    crop = [size for i in reversed(range(count)) for size in (-low[i], extra[i] - high[i])]
    found = ops["constant_pad"](whole, crop)
    return found if bias is None else ops["add"](found, bias.reshape([-1] + [1] * count))


def _kernel(node: Node) -> list[int]:
    kernel = node.get("kernel_shape")
    if not kernel:
        node.fail("kernel_shape is missing")
    return list(kernel)


def _pooled(size: int, kernel: int, stride: int, dilation: int, low: int, high: int, ceil: bool) -> int:
    """The number of windows along a dimension."""
    span = size + low + high - dilation * (kernel - 1) - 1
    count = (-(-span // stride) if ceil else span // stride) + 1
    # The last window starts inside the input or the padding before it.
    if ceil and (count - 1) * stride >= size + low:
        count -= 1
    return count


@runs("MaxPool")
def _max_pool(node: Node, x: Any) -> Any:
    x = tensor(x)
    kernel = _kernel(node)
    strides, dilations, low, high = _window(node, x, kernel)
    if node.get("storage_order", 0) and node.outputs > 1:
        node.unsupported("indices in column-major order")
    count = x.ndim - 2
    if count not in (1, 2, 3):
        node.unsupported(f"pooling of {x.ndim} dimensions")
    ceil = bool(node.get("ceil_mode", 0))
    dtype = x.dtype
    is_simple = low == high and all(2 * each <= size for each, size in zip(low, kernel))
    if is_simple and node.outputs == 1:
        return ops[f"max_pool{count}d"](x, kernel, strides, low, dilations, ceil)
    sizes = list(x.shape)
    if not is_simple:
        # Padding that no maximum chooses.
        after = list(high)
        for i in range(count):
            number = _pooled(sizes[2 + i], kernel[i], strides[i], dilations[i], low[i], high[i], ceil)
            reach = (number - 1) * strides[i] + dilations[i] * (kernel[i] - 1) + 1
            after[i] = max(high[i], reach - sizes[2 + i] - low[i])
        x = x.to(_core.float32) if dtype not in FLOATS else x
        pad = [size for i in reversed(range(count)) for size in (low[i], after[i])]
        x = ops["constant_pad"](x, pad, -math.inf)
        if node.outputs == 1:
            return ops[f"max_pool{count}d"](x, kernel, strides, [0], dilations, False).to(dtype)
        node.unsupported("indices with padding that differs between the sides")
    values, places = ops[f"max_pool{count}d_with_indices"](x, kernel, strides, low, dilations, ceil)
    planes = created("arange", sizes[0] * sizes[1]).reshape([sizes[0], sizes[1]] + [1] * count)
    return values, ops["add"](places, ops["mul"](planes, math.prod(sizes[2:])))


@runs("AveragePool", "LpPool")
def _average_pool(node: Node, x: Any) -> Any:
    x = tensor(x)
    kernel = _kernel(node)
    strides, dilations, low, high = _window(node, x, kernel)
    count = x.ndim - 2
    if count not in (1, 2, 3):
        node.unsupported(f"pooling of {x.ndim} dimensions")
    ceil, counts_padding = bool(node.get("ceil_mode", 0)), bool(node.get("count_include_pad", 0))
    is_simple = max(dilations) == 1 and low == high and all(2 * each <= size for each, size in zip(low, kernel))
    if node.op == "AveragePool" and is_simple:
        return ops[f"avg_pool{count}d"](x, kernel, strides, low, ceil, counts_padding)
    after = list(high)
    for i in range(count):
        number = _pooled(x.shape[2 + i], kernel[i], strides[i], dilations[i], low[i], high[i], ceil)
        reach = (number - 1) * strides[i] + dilations[i] * (kernel[i] - 1) + 1
        after[i] = max(high[i], reach - x.shape[2 + i] - low[i])
    if node.op == "LpPool":
        p = node.get("p", 2)
        if p < 1:
            node.fail(f"p is {p}")
        total = _window_sums(ops["pow"](ops["abs"](x), p), kernel, strides, dilations, low, after)
        return ops["pow"](total, 1 / p)
    total = _window_sums(x, kernel, strides, dilations, low, after)
    inside = ops["ones_like"](x)
    if counts_padding:
        # Padding counts, but not what only rounding up reaches.
        pad = [size for i in reversed(range(count)) for size in (low[i], high[i])]
        inside = ops["constant_pad"](inside, pad, 1.0)
        after = [a - h for a, h in zip(after, high)]
        low = [0] * count
    return ops["div"](total, _window_sums(inside, kernel, strides, dilations, low, after))


def _window_sums(x: Any, kernel: list[int], strides: list[int], dilations: list[int], low: Any, high: Any) -> Any:
    """The sum of each window, one position of the window after another."""
    count = len(kernel)
    x = ops["constant_pad"](x, [size for i in reversed(range(count)) for size in (low[i], high[i])])
    for i in range(count):
        dim = 2 + i
        number = (x.shape[dim] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1
        if number < 1:
            raise ValueError(f"lucid.onnx: a window of {kernel[i]} elements is larger than the padded input")
        parts = None
        for tap in range(kernel[i]):
            start = tap * dilations[i]
            part = ops["slice"](x, dim, start, start + (number - 1) * strides[i] + 1, strides[i])
            parts = part if parts is None else ops["add"](parts, part)
        x = parts
    return x


@runs("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(node: Node, x: Any) -> Any:
    x = tensor(x)
    if x.ndim < 3:
        node.fail("the operand must have at least 3 dimensions")
    count = x.ndim - 2
    if node.op == "GlobalAveragePool":
        if count <= 3:
            return ops[f"adaptive_avg_pool{count}d"](x, [1] * count)
        return ops["mean"](x, list(range(2, x.ndim)), True)
    return ops["amax"](x, list(range(2, x.ndim)), True)


@runs("MaxUnpool")
def _max_unpool(node: Node, x: Any, places: Any, shape: Any = None) -> Any:
    x, places = tensor(x), tensor(places)
    kernel = _kernel(node)
    count = len(kernel)
    strides = _spread(node, "strides", count, 1)
    pads = list(node.get("pads", [0] * (2 * count)))
    if x.ndim != count + 2 or len(pads) != 2 * count or min(strides) < 1:
        node.fail(f"kernel_shape {kernel}, strides {strides} and pads {pads} do not fit {x.ndim} dimensions")
    sizes = [(x.shape[2 + i] - 1) * strides[i] - pads[i] - pads[i + count] + kernel[i] for i in range(count)]
    own = [*x.shape[:2], *sizes]
    if min(own) < 0 or math.prod(own) > _MAX_ELEMENTS:
        node.fail(f"the result would have the shape {own}")
    flat = created("zeros", [math.prod(own)], dtype=x.dtype)
    found = ops["scatter_set"](flat, 0, places.reshape(-1), x.reshape(-1)).reshape(own)
    if shape is None:
        return found
    wanted = ints(node, shape, "output_shape")
    if len(wanted) != x.ndim:
        node.fail(f"output_shape is {wanted}, but the operand has {x.ndim} dimensions")
    pad = [size for i in reversed(range(count)) for size in (0, wanted[2 + i] - sizes[i])]
    return ops["constant_pad"](found, pad)


@runs("Col2Im")
def _col2im(node: Node, x: Any, image: Any, block: Any) -> Any:
    x = tensor(x)
    size, kernel = ints(node, image, "image_shape"), ints(node, block, "block_shape")
    count = len(size)
    dilations, strides = _spread(node, "dilations", count, 1), _spread(node, "strides", count, 1)
    pads = list(node.get("pads", [0] * (2 * count)))
    if count != 2 or pads[:count] != pads[count:]:
        node.unsupported("Col2Im of other than 2 dimensions, or with padding that differs between the sides")
    return ops["fold"](x, size, kernel, dilations, pads[:count], strides)
