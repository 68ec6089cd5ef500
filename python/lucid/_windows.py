"""Convolution and pooling functions with arguments that the ops do not have: padding names, None, optional results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _core, _effects
from ._core import Tensor

_effects.pure_module()

_ops = _core.ops


def _each(numbers: Any, count: int) -> list[int]:
    listed = [numbers] * count if isinstance(numbers, int) else list(numbers)
    return listed * count if len(listed) == 1 else listed


def _padding(function: str, padding: str, weight: Tensor, stride: Any, dilation: Any) -> list[int]:
    """Converts a padding name to numbers, before and after each dimension."""
    count = weight.dim() - 2
    if padding == "valid":
        return [0] * count
    if padding != "same":
        raise ValueError(f'{function}: padding must be numbers, "same" or "valid", got "{padding}"')
    if any(step != 1 for step in _each(stride, count)):
        raise ValueError(f'{function}: padding "same" needs stride 1, got {stride}; pass numbers instead')
    numbers = []
    for size, step in zip(weight.shape[2:], _each(dilation, count)):
        total = step * (size - 1)
        numbers += [total // 2, total - total // 2]
    return numbers


def _convolution(name: str) -> Any:
    op = _ops[name]

    def function(
        x: Any,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] | str = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Tensor:
        if isinstance(padding, str):
            padding = _padding(name, padding, weight, stride, dilation)
        return op(x, weight, bias, stride, padding, dilation, groups)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.__doc__
    return function


conv1d = _convolution("conv1d")
conv2d = _convolution("conv2d")
conv3d = _convolution("conv3d")


def _max_pool(name: str) -> Any:
    values = _ops[name]
    both = _ops[f"{name}_with_indices"]

    def function(
        x: Any,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return (both if return_indices else values)(x, kernel_size, stride, padding, dilation, ceil_mode)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = values.__doc__
    return function


max_pool1d = _max_pool("max_pool1d")
max_pool2d = _max_pool("max_pool2d")
max_pool3d = _max_pool("max_pool3d")


def _sizes(function: str, x: Tensor, output_size: Any, count: int) -> Any:
    """Replaces sizes that are None with the sizes of x."""
    if output_size is None or isinstance(output_size, int):
        output_size = [output_size] * count
    sizes = list(output_size) * (count if len(output_size) == 1 else 1)
    if len(sizes) != count or x.dim() < count:
        return output_size
    return [x.shape[i - count] if size is None else size for i, size in enumerate(sizes)]


def _adaptive_avg_pool(name: str, count: int) -> Any:
    op = _ops[name]

    def function(x: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
        return op(x, _sizes(name, x, output_size, count))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.__doc__
    return function


adaptive_avg_pool1d = _adaptive_avg_pool("adaptive_avg_pool1d", 1)
adaptive_avg_pool2d = _adaptive_avg_pool("adaptive_avg_pool2d", 2)
adaptive_avg_pool3d = _adaptive_avg_pool("adaptive_avg_pool3d", 3)


def _adaptive_max_pool(count: int) -> Any:
    name = f"adaptive_max_pool{count}d"
    op = _ops[f"{name}_with_indices"]

    def function(x: Tensor, output_size: int | Sequence[int | None] | None, return_indices: bool = False) -> Any:
        found = op(x, _sizes(name, x, output_size, count))
        return found if return_indices else found[0]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Divides the last {count} dimensions into `output_size` bins and returns the maximum of each.

    With `return_indices`, also returns the indices of the maxima.

    >>> lucid.{name}(lucid.ones({", ".join(["1"] + ["4"] * count)}), 1).item()
    1.0
    """
    return function


adaptive_max_pool1d = _adaptive_max_pool(1)
adaptive_max_pool2d = _adaptive_max_pool(2)
adaptive_max_pool3d = _adaptive_max_pool(3)
