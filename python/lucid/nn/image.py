"""Padding layers, and layers that rearrange or resample the pixels of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _effects
from .module import Module, layer

_effects.pure_module()

__all__ = [
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Fold",
    "PixelShuffle",
    "PixelUnshuffle",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

_Sizes = int | Sequence[int]


@layer
class ZeroPad1d(Module):
    """Pads sequences with zeros.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ZeroPad1d(1)(lucid.ones(1, 2, 8)).shape
    (1, 2, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class ZeroPad2d(Module):
    """Pads images with zeros.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ZeroPad2d(1)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 10, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class ZeroPad3d(Module):
    """Pads volumes with zeros.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ZeroPad3d(1)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 10, 10, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class ConstantPad1d(Module):
    """Pads sequences with a constant value.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ConstantPad1d(1, 3.5)(lucid.ones(1, 2, 8)).shape
    (1, 2, 10)
    """

    padding: tuple[int, ...]
    value: float

    def __init__(self, padding: _Sizes, value: float) -> None:
        self._build(None, padding=padding, value=value)


@layer
class ConstantPad2d(Module):
    """Pads images with a constant value.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ConstantPad2d(1, 3.5)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 10, 10)
    """

    padding: tuple[int, ...]
    value: float

    def __init__(self, padding: _Sizes, value: float) -> None:
        self._build(None, padding=padding, value=value)


@layer
class ConstantPad3d(Module):
    """Pads volumes with a constant value.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ConstantPad3d(1, 3.5)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 10, 10, 10)
    """

    padding: tuple[int, ...]
    value: float

    def __init__(self, padding: _Sizes, value: float) -> None:
        self._build(None, padding=padding, value=value)


@layer
class ReflectionPad1d(Module):
    """Pads sequences with their reflection at each edge.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ReflectionPad1d(1)(lucid.ones(1, 2, 8)).shape
    (1, 2, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class ReflectionPad2d(Module):
    """Pads images with their reflection at each edge.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ReflectionPad2d(1)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 10, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class ReflectionPad3d(Module):
    """Pads volumes with their reflection at each edge.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ReflectionPad3d(1)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 10, 10, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class ReplicationPad1d(Module):
    """Pads sequences with copies of the elements at the edge.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ReplicationPad1d(1)(lucid.ones(1, 2, 8)).shape
    (1, 2, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class ReplicationPad2d(Module):
    """Pads images with copies of the elements at the edge.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ReplicationPad2d(1)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 10, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class ReplicationPad3d(Module):
    """Pads volumes with copies of the elements at the edge.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.ReplicationPad3d(1)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 10, 10, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class CircularPad1d(Module):
    """Pads sequences with the elements of the opposite end, as if the input were periodic.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.CircularPad1d(1)(lucid.ones(1, 2, 8)).shape
    (1, 2, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class CircularPad2d(Module):
    """Pads images with the elements of the opposite end, as if the input were periodic.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.CircularPad2d(1)(lucid.ones(1, 2, 8, 8)).shape
    (1, 2, 10, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class CircularPad3d(Module):
    """Pads volumes with the elements of the opposite end, as if the input were periodic.

    `padding` is one number for all sides, or the numbers before and after each dimension, last dimension first.

    >>> lucid.nn.CircularPad3d(1)(lucid.ones(1, 2, 8, 8, 8)).shape
    (1, 2, 10, 10, 10)
    """

    padding: tuple[int, ...]

    def __init__(self, padding: _Sizes) -> None:
        self._build(None, padding=padding)


@layer
class Upsample(Module):
    """Resamples the input to a given size, or by a scale factor.

    Args:
        size: Size of the output.
        scale_factor: Output size divided by input size, if `size` is not given.
        mode: 'nearest', 'nearest-exact', 'linear', 'bilinear', 'bicubic', 'trilinear' or 'area'.
        align_corners: Whether the corner pixels of input and output are aligned (linear and cubic modes).

    >>> lucid.nn.Upsample(scale_factor=2)(lucid.ones(1, 2, 3, 3)).shape
    (1, 2, 6, 6)
    """

    size: Any
    scale_factor: Any
    mode: str

    # By hand: it converts the factor to floats.
    def __init__(
        self,
        size: _Sizes | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        self._build(None, size=size, scale_factor=_floats(scale_factor), mode=mode, align_corners=align_corners)


class UpsamplingNearest2d(Upsample):
    """Resamples images by nearest-neighbour interpolation.

    >>> lucid.nn.UpsamplingNearest2d(scale_factor=2)(lucid.ones(1, 2, 3, 3)).shape
    (1, 2, 6, 6)
    """

    def __init__(self, size: _Sizes | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resamples images by bilinear interpolation with aligned corners.

    >>> lucid.nn.UpsamplingBilinear2d(scale_factor=2)(lucid.ones(1, 2, 3, 3)).shape
    (1, 2, 6, 6)
    """

    def __init__(self, size: _Sizes | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


def _floats(factor: Any) -> Any:
    if factor is None:
        return None
    return tuple(float(f) for f in factor) if isinstance(factor, Sequence) else float(factor)


@layer
class PixelShuffle(Module):
    """Rearranges channels into pixels: (r * r * C, H, W) becomes (C, r * H, r * W), where r is `upscale_factor`.

    >>> lucid.nn.PixelShuffle(2)(lucid.ones(1, 4, 3, 3)).shape
    (1, 1, 6, 6)
    """

    def __init__(self, upscale_factor: int) -> None:
        self._build(None, upscale_factor=upscale_factor)


@layer
class PixelUnshuffle(Module):
    """Rearranges pixels into channels. The inverse of PixelShuffle.

    >>> lucid.nn.PixelUnshuffle(2)(lucid.ones(1, 1, 6, 6)).shape
    (1, 4, 3, 3)
    """

    def __init__(self, downscale_factor: int) -> None:
        self._build(None, downscale_factor=downscale_factor)


@layer
class ChannelShuffle(Module):
    """Splits the channels into groups and interleaves them.

    >>> lucid.nn.ChannelShuffle(2)(lucid.arange(4).reshape(1, 4, 1)).flatten()
    tensor([0, 2, 1, 3])
    """

    def __init__(self, groups: int) -> None:
        self._build(None, groups=groups)


@layer
class Unfold(Module):
    """Extracts the windows of images, each as a column of the output.

    >>> lucid.nn.Unfold(2)(lucid.ones(1, 3, 4, 4)).shape
    (1, 12, 9)
    """

    def __init__(self, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes = 0, stride: _Sizes = 1) -> None:
        self._build(None, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)


@layer
class Fold(Module):
    """Combines columns, as Unfold returns them, into images. Overlapping windows are added.

    >>> lucid.nn.Fold(4, 2)(lucid.ones(1, 12, 9)).shape
    (1, 3, 4, 4)
    """

    def __init__(
        self, output_size: _Sizes, kernel_size: _Sizes, dilation: _Sizes = 1, padding: _Sizes = 0, stride: _Sizes = 1
    ) -> None:
        self._build(
            None, output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
        )
