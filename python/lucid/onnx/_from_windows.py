"""Convolutions and pooling of loaded models."""

from __future__ import annotations

import math
from typing import Any

from .. import _core, _effects
from ._dtypes import FLOATS
from ._node import Node, created, ints, ops, option, padded, runs

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
    mode = option(node, "auto_pad", ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"))
    if mode == "NOTSET":
        pads = node.get("pads", [0] * (2 * count))
        if len(pads) != 2 * count or min(pads) < 0:
            node.fail(f"pads {list(pads)} are not {2 * count} numbers from 0 on")
        return strides, dilations, list(pads[:count]), list(pads[count:])
    if mode == "VALID":
        return strides, dilations, [0] * count, [0] * count
    totals = [
        max(0, (-(-size // stride) - 1) * stride + (length - 1) * dilation + 1 - size)
        for size, length, stride, dilation in zip(x.shape[2:], kernel, strides, dilations)
    ]
    return strides, dilations, *_halves(totals, mode)


def _halves(totals: list[int], mode: str) -> tuple[list[int], list[int]]:
    """The padding before and after that add up to some numbers."""
    small = [total // 2 for total in totals]
    large = [total - half for total, half in zip(totals, small)]
    return (small, large) if mode == "SAME_UPPER" else (large, small)


def _check_conv(node: Node, x: Any, weight: Any) -> int:
    """The number of spatial dimensions."""
    if x.ndim not in (3, 4, 5) or weight.ndim != x.ndim:
        node.unsupported(f"a convolution of {x.ndim} dimensions")
    return int(x.ndim) - 2


@runs("Conv")
def _conv(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    count = _check_conv(node, x, weight)
    strides, dilations, low, high = _window(node, x, list(weight.shape[2:]))
    padding = [size for pair in zip(low, high) for size in pair]
    return ops[f"conv{count}d"](x, weight, bias, strides, padding, dilations, node.get("group"))


@runs("ConvInteger")
def _conv_integer(node: Node, x: Any, weight: Any, x_zero: Any = None, w_zero: Any = None) -> Any:
    """In f64, which holds the products and sums exactly."""
    x, weight = x.to(_core.float64), weight.to(_core.float64)
    if x_zero is not None:
        x = ops["sub"](x, x_zero.to(_core.float64))
    if w_zero is not None:
        zero = w_zero.to(_core.float64)
        weight = ops["sub"](weight, zero if zero.ndim == 0 else zero.reshape([-1] + [1] * (weight.ndim - 1)))
    return _conv(node, x, weight).to(_core.int32)


@runs("ConvTranspose")
def _conv_transpose(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    count = _check_conv(node, x, weight)
    kernel = list(weight.shape[2:])
    strides, dilations = _spread(node, "strides", count, 1), _spread(node, "dilations", count, 1)
    extra = _spread(node, "output_padding", count, 0)
    mode = option(node, "auto_pad", ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"))
    wanted = node.get("output_shape")
    pads = list(node.get("pads", [0] * (2 * count)))
    low, high = pads[:count], pads[count:]
    if wanted is not None or mode.startswith("SAME"):
        spans = [(x.shape[2 + i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 for i in range(count)]
        sizes = list(wanted)[-count:] if wanted is not None else [x.shape[2 + i] * strides[i] for i in range(count)]
        totals = [spans[i] + extra[i] - sizes[i] for i in range(count)]
        low, high = _halves([max(0, total) for total in totals], mode)
        # What the windows do not reach is added at the end.
        extra = [each + max(0, -total) for each, total in zip(extra, totals)]
    op, group = ops[f"conv_transpose{count}d"], node.get("group")
    if low == high and all(e < max(s, d) for e, s, d in zip(extra, strides, dilations)):
        return op(x, weight, bias, strides, low, extra, group, dilations)
    # The whole result, which is then cropped, or padded where no window reaches.
    whole = op(x, weight, None, strides, [0], [0], group, dilations)
    found = padded(whole, [-each for each in low], [each - end for each, end in zip(extra, high)])
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


def _pool(node: Node, x: Any) -> tuple[list[list[int]], bool, bool]:
    """The kernel, strides, dilations and the padding before and after; whether the number of windows is rounded up; and
    whether Lucid's ops have such padding."""
    kernel = _kernel(node)
    strides, dilations, low, high = _window(node, x, kernel)
    if x.ndim not in (3, 4, 5):
        node.unsupported(f"pooling of {x.ndim} dimensions")
    is_simple = low == high and all(2 * each <= size for each, size in zip(low, kernel))
    return [kernel, strides, dilations, low, high], bool(node.get("ceil_mode")), is_simple


def _reached(x: Any, windows: list[list[int]], ceil: bool) -> list[int]:
    """The padding after each dimension, with what windows reach that only rounding up adds."""
    after = []
    for size, kernel, stride, dilation, low, high in zip(x.shape[2:], *windows):
        number = _pooled(size, kernel, stride, dilation, low, high, ceil)
        after.append(max(high, (number - 1) * stride + dilation * (kernel - 1) + 1 - size - low))
    return after


@runs("MaxPool")
def _max_pool(node: Node, x: Any) -> Any:
    windows, ceil, is_simple = _pool(node, x)
    if node.get("storage_order") and node.outputs > 1:
        node.unsupported("indices in column-major order")
    kernel, strides, dilations, low, _ = windows
    name, dtype = f"max_pool{x.ndim - 2}d", x.dtype
    if is_simple and node.outputs == 1:
        return ops[name](x, kernel, strides, low, dilations, ceil)
    if not is_simple:
        if node.outputs > 1:
            node.unsupported("indices with padding that differs between the sides")
        x = x.to(_core.float32) if dtype not in FLOATS else x
        # Padding that no maximum chooses.
        x = padded(x, low, _reached(x, windows, ceil), -math.inf)
        return ops[name](x, kernel, strides, [0], dilations, False).to(dtype)
    values, places = ops[f"{name}_with_indices"](x, kernel, strides, low, dilations, ceil)
    batch, channels, *sizes = x.shape
    planes = created("arange", batch * channels).reshape([batch, channels] + [1] * len(sizes))
    return values, ops["add"](places, ops["mul"](planes, math.prod(sizes)))


@runs("AveragePool", "LpPool")
def _average_pool(node: Node, x: Any) -> Any:
    windows, ceil, is_simple = _pool(node, x)
    kernel, strides, dilations, low, high = windows
    counts_padding = bool(node.get("count_include_pad"))
    if node.op == "AveragePool" and is_simple and max(dilations) == 1:
        return ops[f"avg_pool{x.ndim - 2}d"](x, kernel, strides, low, ceil, counts_padding)
    after = _reached(x, windows, ceil)
    if node.op == "LpPool":
        p = node.get("p")
        if p < 1:
            node.fail(f"p is {p}")
        total = _window_sums(ops["pow"](ops["abs"](x), p), kernel, strides, dilations, low, after)
        return ops["pow"](total, 1 / p)
    total = _window_sums(x, kernel, strides, dilations, low, after)
    inside = ops["ones_like"](x)
    if counts_padding:
        # Padding counts, but not what only rounding up reaches.
        inside = padded(inside, low, high, 1.0)
        low, after = [0] * len(low), [a - h for a, h in zip(after, high)]
    return ops["div"](total, _window_sums(inside, kernel, strides, dilations, low, after))


def _window_sums(x: Any, kernel: list[int], strides: list[int], dilations: list[int], low: Any, high: Any) -> Any:
    """The sum of each window, one position of the window after another."""
    x = padded(x, low, high)
    for i in range(len(kernel)):
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
    if x.ndim < 3:
        node.fail("the operand must have at least 3 dimensions")
    count = x.ndim - 2
    if node.op == "GlobalAveragePool" and count <= 3:
        return ops[f"adaptive_avg_pool{count}d"](x, [1] * count)
    return ops["mean" if node.op == "GlobalAveragePool" else "amax"](x, list(range(2, x.ndim)), True)


@runs("MaxUnpool", known=(2,))
def _max_unpool(node: Node, x: Any, places: Any, shape: Any = None) -> Any:
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
    return padded(found, [0] * count, [want - size for want, size in zip(wanted[2:], sizes)])


@runs("Col2Im", known=(1, 2))
def _col2im(node: Node, x: Any, image: Any, block: Any) -> Any:
    size, kernel = ints(node, image, "image_shape"), ints(node, block, "block_shape")
    count = len(size)
    dilations, strides = _spread(node, "dilations", count, 1), _spread(node, "strides", count, 1)
    pads = list(node.get("pads", [0] * (2 * count)))
    if count != 2 or pads[:count] != pads[count:]:
        node.unsupported("Col2Im of other than 2 dimensions, or with padding that differs between the sides")
    return ops["fold"](x, size, kernel, dilations, pads[:count], strides)
