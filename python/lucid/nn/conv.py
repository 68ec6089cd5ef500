"""Convolution layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _effects
from .module import Module, layer

_effects.pure_module()

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_Sizes = int | Sequence[int]


class _Conv(Module):
    """The attributes that all convolutions share."""

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
        """Initializes weight and bias again."""
        self._reset()


class _PlainConv(_Conv):
    """The base class of convolutions over any number of dimensions."""

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
            device=device,
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            _bias=bias,
            padding_mode=padding_mode,
        )


class _ConvTranspose(_Conv):
    """The base class of transposed convolutions over any number of dimensions."""

    _inputs = "input, output_size=None"

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
            device=device,
            in_channels=in_channels,
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            _bias=bias,
            dilation=dilation,
            padding_mode=padding_mode,
        )


@layer
class Conv1d(_PlainConv):
    """Applies a convolution to sequences of shape (N, C, L). The batch dimension is optional.

    `weight` has shape (out_channels, in_channels / groups, *kernel_size). Weight and bias are initialized from the
    uniform distribution on +-1 / sqrt(fan_in), where fan_in is the number of inputs of an output element.

    Args:
        in_channels: Number of channels of the input.
        out_channels: Number of channels of the output.
        kernel_size: Size of the kernel: one number, or one per dimension.
        stride: Step between windows.
        padding: Padding on both sides: numbers, 'same' (stride 1 only) or 'valid' (none).
        dilation: Distance between kernel elements.
        groups: Number of groups of channels that are convolved separately.
        bias: Whether to add a bias per output channel.
        padding_mode: 'zeros', 'reflect', 'replicate' or 'circular'.

    >>> lucid.nn.Conv1d(3, 6, 3)(lucid.ones(1, 3, 8)).shape
    (1, 6, 6)
    """


@layer
class Conv2d(_PlainConv):
    """Applies a convolution to images of shape (N, C, H, W). The batch dimension is optional.

    `weight` has shape (out_channels, in_channels / groups, *kernel_size). Weight and bias are initialized from the
    uniform distribution on +-1 / sqrt(fan_in), where fan_in is the number of inputs of an output element.

    Args:
        in_channels: Number of channels of the input.
        out_channels: Number of channels of the output.
        kernel_size: Size of the kernel: one number, or one per dimension.
        stride: Step between windows.
        padding: Padding on both sides: numbers, 'same' (stride 1 only) or 'valid' (none).
        dilation: Distance between kernel elements.
        groups: Number of groups of channels that are convolved separately.
        bias: Whether to add a bias per output channel.
        padding_mode: 'zeros', 'reflect', 'replicate' or 'circular'.

    >>> lucid.nn.Conv2d(3, 6, 3)(lucid.ones(1, 3, 8, 8)).shape
    (1, 6, 6, 6)
    """


@layer
class Conv3d(_PlainConv):
    """Applies a convolution to volumes of shape (N, C, D, H, W). The batch dimension is optional.

    `weight` has shape (out_channels, in_channels / groups, *kernel_size). Weight and bias are initialized from the
    uniform distribution on +-1 / sqrt(fan_in), where fan_in is the number of inputs of an output element.

    Args:
        in_channels: Number of channels of the input.
        out_channels: Number of channels of the output.
        kernel_size: Size of the kernel: one number, or one per dimension.
        stride: Step between windows.
        padding: Padding on both sides: numbers, 'same' (stride 1 only) or 'valid' (none).
        dilation: Distance between kernel elements.
        groups: Number of groups of channels that are convolved separately.
        bias: Whether to add a bias per output channel.
        padding_mode: 'zeros', 'reflect', 'replicate' or 'circular'.

    >>> lucid.nn.Conv3d(3, 6, 3)(lucid.ones(1, 3, 8, 8, 8)).shape
    (1, 6, 6, 6, 6)
    """


@layer
class ConvTranspose1d(_ConvTranspose):
    """Applies a transposed convolution to sequences: the gradient of Conv1d with respect to its input.

    Takes the arguments of Conv1d and `output_padding`, the number of elements added to one side of each dimension of
    the output. A call also takes `output_size`, which selects one of the possible output sizes.

    >>> lucid.nn.ConvTranspose1d(3, 6, 3, stride=2)(lucid.ones(1, 3, 8)).shape
    (1, 6, 17)
    """


@layer
class ConvTranspose2d(_ConvTranspose):
    """Applies a transposed convolution to images: the gradient of Conv2d with respect to its input.

    Takes the arguments of Conv2d and `output_padding`, the number of elements added to one side of each dimension of
    the output. A call also takes `output_size`, which selects one of the possible output sizes.

    >>> lucid.nn.ConvTranspose2d(3, 6, 3, stride=2)(lucid.ones(1, 3, 8, 8)).shape
    (1, 6, 17, 17)
    """


@layer
class ConvTranspose3d(_ConvTranspose):
    """Applies a transposed convolution to volumes: the gradient of Conv3d with respect to its input.

    Takes the arguments of Conv3d and `output_padding`, the number of elements added to one side of each dimension of
    the output. A call also takes `output_size`, which selects one of the possible output sizes.

    >>> lucid.nn.ConvTranspose3d(3, 6, 3, stride=2)(lucid.ones(1, 3, 8, 8, 8)).shape
    (1, 6, 17, 17, 17)
    """
