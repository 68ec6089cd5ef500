"""Convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _effects
from .module import Module, layer

_effects.pure_module()

_Sizes = int | Sequence[int]


class _Conv(Module):
    """What convolutions have in common."""

    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...] | str
    dilation: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Any
    bias: Any

    def reset_parameters(self) -> None:
        """Draws weight and bias anew."""
        self._reset()


class _PlainConv(_Conv):
    """A convolution over any number of dimensions."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes | str = 0,
        dilation: _Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            padding_mode=padding_mode,
            _bias=bias,
        )


class _ConvTranspose(_Conv):
    """The transpose of one."""

    output_padding: tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: _Sizes,
        stride: _Sizes = 1,
        padding: _Sizes = 0,
        output_padding: _Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: _Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            dilation=dilation,
            padding_mode=padding_mode,
            _bias=bias,
        )


@layer
class Conv1d(_PlainConv):
    """Learned kernels moved over sequences. padding is numbers, 'same' or 'valid'; padding_mode 'zeros', 'reflect',
    'replicate' or 'circular'.

    >>> lucid.nn.Conv1d(3, 6, 3)(lucid.ones(1, 3, 8)).shape
    (1, 6, 6)
    """


@layer
class Conv2d(_PlainConv):
    """Learned kernels moved over images. padding is numbers, 'same' or 'valid'; padding_mode 'zeros', 'reflect',
    'replicate' or 'circular'.

    >>> lucid.nn.Conv2d(3, 6, 3)(lucid.ones(1, 3, 8, 8)).shape
    (1, 6, 6, 6)
    """


@layer
class Conv3d(_PlainConv):
    """Learned kernels moved over volumes. padding is numbers, 'same' or 'valid'; padding_mode 'zeros', 'reflect',
    'replicate' or 'circular'.

    >>> lucid.nn.Conv3d(3, 6, 3)(lucid.ones(1, 3, 8, 8, 8)).shape
    (1, 6, 6, 6, 6)
    """


@layer
class ConvTranspose1d(_ConvTranspose):
    """The transpose of a convolution of sequences, as its gradient computes it. A call takes output_size too.

    >>> lucid.nn.ConvTranspose1d(3, 6, 3, stride=2)(lucid.ones(1, 3, 8)).shape
    (1, 6, 17)
    """


@layer
class ConvTranspose2d(_ConvTranspose):
    """The transpose of a convolution of images, as its gradient computes it. A call takes output_size too.

    >>> lucid.nn.ConvTranspose2d(3, 6, 3, stride=2)(lucid.ones(1, 3, 8, 8)).shape
    (1, 6, 17, 17)
    """


@layer
class ConvTranspose3d(_ConvTranspose):
    """The transpose of a convolution of volumes, as its gradient computes it. A call takes output_size too.

    >>> lucid.nn.ConvTranspose3d(3, 6, 3, stride=2)(lucid.ones(1, 3, 8, 8, 8)).shape
    (1, 6, 17, 17, 17)
    """
