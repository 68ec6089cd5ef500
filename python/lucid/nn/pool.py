"""Pooling layers."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _effects
from .module import Module, layer

_effects.pure_module()

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

_Sizes = int | Sequence[int]


class _MaxPool(Module):
    """The base class of max pooling over any number of dimensions."""

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        dilation: _Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        self._build(
            None,
            kernel_size=kernel_size,
            stride=kernel_size if stride is None else stride,
            padding=padding,
            dilation=dilation,
            return_indices=return_indices,
            ceil_mode=ceil_mode,
        )


@layer
class MaxPool1d(_MaxPool):
    """Computes the maximum of each window of an input of shape (N, C, L). The batch dimension is optional.

    Args:
        kernel_size: Size of the window: one number, or one per dimension.
        stride: Step between windows; `kernel_size` by default.
        padding: Padding with -inf on both sides.
        dilation: Distance between elements of a window.
        return_indices: Whether to also return the indices of the maxima, for MaxUnpool.
        ceil_mode: Whether to include windows that reach over the end.

    >>> lucid.nn.MaxPool1d(2)(lucid.ones(1, 2, 8)).shape
    (1, 2, 4)
    """


@layer
class MaxPool2d(_MaxPool):
    """Computes the maximum of each window of an input of shape (N, C, H, W). The batch dimension is optional.

    Args:
        kernel_size: Size of the window: one number, or one per dimension.
        stride: Step between windows; `kernel_size` by default.
        padding: Padding with -inf on both sides.
        dilation: Distance between elements of a window.
        return_indices: Whether to also return the indices of the maxima, for MaxUnpool.
        ceil_mode: Whether to include windows that reach over the end.

    >>> lucid.nn.MaxPool2d(2)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 4, 4)
    """


@layer
class MaxPool3d(_MaxPool):
    """Computes the maximum of each window of an input of shape (N, C, D, H, W). The batch dimension is optional.

    Args:
        kernel_size: Size of the window: one number, or one per dimension.
        stride: Step between windows; `kernel_size` by default.
        padding: Padding with -inf on both sides.
        dilation: Distance between elements of a window.
        return_indices: Whether to also return the indices of the maxima, for MaxUnpool.
        ceil_mode: Whether to include windows that reach over the end.

    >>> lucid.nn.MaxPool3d(2)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 4, 4, 4)
    """


@layer
class AvgPool1d(Module):
    """Computes the mean of each window of an input of shape (N, C, L). The batch dimension is optional.

    Args:
        kernel_size: Size of the window.
        stride: Step between windows; `kernel_size` by default.
        padding: Padding with zeros on both sides.
        ceil_mode: Whether to include windows that reach over the end.
        count_include_pad: Whether padding counts as elements of the mean.

    >>> lucid.nn.AvgPool1d(2)(lucid.ones(1, 2, 8)).shape
    (1, 2, 4)
    """

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        self._build(
            None,
            kernel_size=kernel_size,
            stride=kernel_size if stride is None else stride,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        )


class _AvgPool(Module):
    """The base class of average pooling over two and three dimensions."""

    def __init__(
        self,
        kernel_size: _Sizes,
        stride: _Sizes | None = None,
        padding: _Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        self._build(
            None,
            kernel_size=kernel_size,
            stride=kernel_size if stride is None else stride,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            divisor_override=divisor_override,
        )


@layer
class AvgPool2d(_AvgPool):
    """Computes the mean of each window of an input of shape (N, C, H, W). The batch dimension is optional.

    Args:
        kernel_size: Size of the window: one number, or one per dimension.
        stride: Step between windows; `kernel_size` by default.
        padding: Padding with zeros on both sides.
        ceil_mode: Whether to include windows that reach over the end.
        count_include_pad: Whether padding counts as elements of the mean.
        divisor_override: Divisor of the sums, instead of the number of elements.

    >>> lucid.nn.AvgPool2d(2)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 4, 4)
    """


@layer
class AvgPool3d(_AvgPool):
    """Computes the mean of each window of an input of shape (N, C, D, H, W). The batch dimension is optional.

    Args:
        kernel_size: Size of the window: one number, or one per dimension.
        stride: Step between windows; `kernel_size` by default.
        padding: Padding with zeros on both sides.
        ceil_mode: Whether to include windows that reach over the end.
        count_include_pad: Whether padding counts as elements of the mean.
        divisor_override: Divisor of the sums, instead of the number of elements.

    >>> lucid.nn.AvgPool3d(2)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 4, 4, 4)
    """


@layer
class AdaptiveAvgPool1d(Module):
    """Averages windows that are chosen so that the output has size `output_size`. None keeps the input's size.

    >>> lucid.nn.AdaptiveAvgPool1d(3)(lucid.ones(1, 2, 8)).shape
    (1, 2, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        self._build(None, output_size=output_size)


@layer
class AdaptiveAvgPool2d(Module):
    """Averages windows that are chosen so that the output has size `output_size`. None keeps the input's size.

    >>> lucid.nn.AdaptiveAvgPool2d(3)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 3, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        self._build(None, output_size=output_size)


@layer
class AdaptiveAvgPool3d(Module):
    """Averages windows that are chosen so that the output has size `output_size`. None keeps the input's size.

    >>> lucid.nn.AdaptiveAvgPool3d(3)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 3, 3, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        self._build(None, output_size=output_size)


@layer
class AdaptiveMaxPool1d(Module):
    """Computes maxima of windows chosen so that the output has size `output_size`. None keeps the input's size.

    With `return_indices`, also returns the indices of the maxima.

    >>> lucid.nn.AdaptiveMaxPool1d(3)(lucid.ones(1, 2, 8)).shape
    (1, 2, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None], return_indices: bool = False) -> None:
        self._build(None, output_size=output_size, return_indices=return_indices)


@layer
class AdaptiveMaxPool2d(Module):
    """Computes maxima of windows chosen so that the output has size `output_size`. None keeps the input's size.

    With `return_indices`, also returns the indices of the maxima.

    >>> lucid.nn.AdaptiveMaxPool2d(3)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 3, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None], return_indices: bool = False) -> None:
        self._build(None, output_size=output_size, return_indices=return_indices)


@layer
class AdaptiveMaxPool3d(Module):
    """Computes maxima of windows chosen so that the output has size `output_size`. None keeps the input's size.

    With `return_indices`, also returns the indices of the maxima.

    >>> lucid.nn.AdaptiveMaxPool3d(3)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 3, 3, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None], return_indices: bool = False) -> None:
        self._build(None, output_size=output_size, return_indices=return_indices)


class _LPPool(Module):
    """The base class of power-average pooling over any number of dimensions."""

    def __init__(
        self, norm_type: float, kernel_size: _Sizes, stride: _Sizes | None = None, ceil_mode: bool = False
    ) -> None:
        self._build(None, norm_type=norm_type, kernel_size=kernel_size, stride=stride, ceil_mode=ceil_mode)


@layer
class LPPool1d(_LPPool):
    """Computes the p-norm of each window, where p is `norm_type`.

    >>> lucid.nn.LPPool1d(2, 2)(lucid.ones(1, 2, 8)).shape
    (1, 2, 4)
    """


@layer
class LPPool2d(_LPPool):
    """Computes the p-norm of each window, where p is `norm_type`.

    >>> lucid.nn.LPPool2d(2, 2)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 4, 4)
    """


@layer
class LPPool3d(_LPPool):
    """Computes the p-norm of each window, where p is `norm_type`.

    >>> lucid.nn.LPPool3d(2, 2)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 4, 4, 4)
    """


@layer
class MaxUnpool1d(Module):
    """Computes a partial inverse of MaxPool1d: puts maxima back at their indices, with zeros elsewhere.

    A call takes both results of a MaxPool1d with `return_indices`.

    >>> values, indices = lucid.nn.MaxPool1d(2, return_indices=True)(lucid.ones(1, 2, 8))
    >>> lucid.nn.MaxUnpool1d(2)(values, indices).shape
    (1, 2, 8)
    """

    _inputs = "input, indices, output_size=None"

    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0) -> None:
        self._build(None, kernel_size=kernel_size, stride=kernel_size if stride is None else stride, padding=padding)


@layer
class MaxUnpool2d(Module):
    """Computes a partial inverse of MaxPool2d: puts maxima back at their indices, with zeros elsewhere.

    A call takes both results of a MaxPool2d with `return_indices`.

    >>> values, indices = lucid.nn.MaxPool2d(2, return_indices=True)(lucid.ones(1, 2, 8, 8))
    >>> lucid.nn.MaxUnpool2d(2)(values, indices).shape
    (1, 2, 8, 8)
    """

    _inputs = "input, indices, output_size=None"

    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0) -> None:
        self._build(None, kernel_size=kernel_size, stride=kernel_size if stride is None else stride, padding=padding)


@layer
class MaxUnpool3d(Module):
    """Computes a partial inverse of MaxPool3d: puts maxima back at their indices, with zeros elsewhere.

    A call takes both results of a MaxPool3d with `return_indices`.

    >>> values, indices = lucid.nn.MaxPool3d(2, return_indices=True)(lucid.ones(1, 2, 8, 8, 8))
    >>> lucid.nn.MaxUnpool3d(2)(values, indices).shape
    (1, 2, 8, 8, 8)
    """

    _inputs = "input, indices, output_size=None"

    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0) -> None:
        self._build(None, kernel_size=kernel_size, stride=kernel_size if stride is None else stride, padding=padding)
