"""Pools: one number for each window."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _effects
from .module import Module, layer

_effects.pure_module()

_Sizes = int | Sequence[int]


class _MaxPool(Module):
    """The largest element of each window, over any number of dimensions."""

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
    """The largest element of each window and, with return_indices, where it was.

    >>> lucid.nn.MaxPool1d(2)(lucid.ones(1, 2, 8)).shape
    (1, 2, 4)
    """


@layer
class MaxPool2d(_MaxPool):
    """The largest element of each window and, with return_indices, where it was.

    >>> lucid.nn.MaxPool2d(2)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 4, 4)
    """


@layer
class MaxPool3d(_MaxPool):
    """The largest element of each window and, with return_indices, where it was.

    >>> lucid.nn.MaxPool3d(2)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 4, 4, 4)
    """


@layer
class AvgPool1d(Module):
    """The mean of each window.

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
    """The mean of each window, or its sum divided by something else."""

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
    """The mean of each window.

    >>> lucid.nn.AvgPool2d(2)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 4, 4)
    """


@layer
class AvgPool3d(_AvgPool):
    """The mean of each window.

    >>> lucid.nn.AvgPool3d(2)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 4, 4, 4)
    """


@layer
class AdaptiveAvgPool1d(Module):
    """Means of windows chosen so that the result has the size output_size; None keeps a size.

    >>> lucid.nn.AdaptiveAvgPool1d(3)(lucid.ones(1, 2, 8)).shape
    (1, 2, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        self._build(None, output_size=output_size)


@layer
class AdaptiveAvgPool2d(Module):
    """Means of windows chosen so that the result has the size output_size; None keeps a size.

    >>> lucid.nn.AdaptiveAvgPool2d(3)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 3, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        self._build(None, output_size=output_size)


@layer
class AdaptiveAvgPool3d(Module):
    """Means of windows chosen so that the result has the size output_size; None keeps a size.

    >>> lucid.nn.AdaptiveAvgPool3d(3)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 3, 3, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        self._build(None, output_size=output_size)


@layer
class AdaptiveMaxPool1d(Module):
    """Maxima of windows chosen so that the result has the size output_size; None keeps a size.

    >>> lucid.nn.AdaptiveMaxPool1d(3)(lucid.ones(1, 2, 8)).shape
    (1, 2, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None], return_indices: bool = False) -> None:
        self._build(None, output_size=output_size, return_indices=return_indices)


@layer
class AdaptiveMaxPool2d(Module):
    """Maxima of windows chosen so that the result has the size output_size; None keeps a size.

    >>> lucid.nn.AdaptiveMaxPool2d(3)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 3, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None], return_indices: bool = False) -> None:
        self._build(None, output_size=output_size, return_indices=return_indices)


@layer
class AdaptiveMaxPool3d(Module):
    """Maxima of windows chosen so that the result has the size output_size; None keeps a size.

    >>> lucid.nn.AdaptiveMaxPool3d(3)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 3, 3, 3)
    """

    def __init__(self, output_size: int | Sequence[int | None], return_indices: bool = False) -> None:
        self._build(None, output_size=output_size, return_indices=return_indices)


class _LPPool(Module):
    """A norm of each window, over any number of dimensions."""

    def __init__(
        self, norm_type: float, kernel_size: _Sizes, stride: _Sizes | None = None, ceil_mode: bool = False
    ) -> None:
        self._build(
            None,
            norm_type=norm_type,
            kernel_size=kernel_size,
            stride=stride,
            ceil_mode=ceil_mode,
        )


@layer
class LPPool1d(_LPPool):
    """The p-norm of each window, p being norm_type.

    >>> lucid.nn.LPPool1d(2, 2)(lucid.ones(1, 2, 8)).shape
    (1, 2, 4)
    """


@layer
class LPPool2d(_LPPool):
    """The p-norm of each window, p being norm_type.

    >>> lucid.nn.LPPool2d(2, 2)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 4, 4)
    """


@layer
class LPPool3d(_LPPool):
    """The p-norm of each window, p being norm_type.

    >>> lucid.nn.LPPool3d(2, 2)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 4, 4, 4)
    """


@layer
class MaxUnpool1d(Module):
    """The inverse of MaxPool1d: called with its two results, it puts the elements where they were.

    >>> values, indices = lucid.nn.MaxPool1d(2, return_indices=True)(lucid.ones(1, 2, 8))
    >>> lucid.nn.MaxUnpool1d(2)(values, indices).shape
    (1, 2, 8)
    """

    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0) -> None:
        self._build(None, kernel_size=kernel_size, stride=kernel_size if stride is None else stride, padding=padding)


@layer
class MaxUnpool2d(Module):
    """The inverse of MaxPool2d: called with its two results, it puts the elements where they were.

    >>> values, indices = lucid.nn.MaxPool2d(2, return_indices=True)(lucid.ones(1, 2, 8, 8))
    >>> lucid.nn.MaxUnpool2d(2)(values, indices).shape
    (1, 2, 8, 8)
    """

    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0) -> None:
        self._build(None, kernel_size=kernel_size, stride=kernel_size if stride is None else stride, padding=padding)


@layer
class MaxUnpool3d(Module):
    """The inverse of MaxPool3d: called with its two results, it puts the elements where they were.

    >>> values, indices = lucid.nn.MaxPool3d(2, return_indices=True)(lucid.ones(1, 2, 8, 8, 8))
    >>> lucid.nn.MaxUnpool3d(2)(values, indices).shape
    (1, 2, 8, 8, 8)
    """

    def __init__(self, kernel_size: _Sizes, stride: _Sizes | None = None, padding: _Sizes = 0) -> None:
        self._build(None, kernel_size=kernel_size, stride=kernel_size if stride is None else stride, padding=padding)
