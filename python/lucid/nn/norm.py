"""Modules that give what passes through them mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _effects
from .module import Module, layer

_effects.pure_module()


@layer
class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions, times weight plus bias.

    >>> lucid.nn.LayerNorm(2)(lucid.tensor([[1.0, 3.0]])).detach()
    tensor([[-1.0000,  1.0000]])
    """

    normalized_shape: tuple[int, ...]
    eps: float
    elementwise_affine: bool
    weight: Any
    bias: Any

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype, normalized_shape=normalized_shape, eps=eps, elementwise_affine=elementwise_affine, _bias=bias
        )

    def reset_parameters(self) -> None:
        """Sets weight to one and bias to zero."""
        self._reset()


@layer
class RMSNorm(Module):
    """x divided by the root of its mean square over the last dimensions, times weight. eps=None is that of the dtype.

    >>> lucid.nn.RMSNorm(2)(lucid.tensor([[1.0, -1.0]])).detach()
    tensor([[ 1., -1.]])
    """

    normalized_shape: tuple[int, ...]
    eps: float | None
    elementwise_affine: bool
    weight: Any

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(dtype, normalized_shape=normalized_shape, eps=eps, elementwise_affine=elementwise_affine)

    def reset_parameters(self) -> None:
        """Sets weight to one and bias to zero."""
        self._reset()


@layer
class GroupNorm(Module):
    """Mean 0 and variance 1 over each group of channels, times weight plus bias.

    >>> lucid.nn.GroupNorm(2, 4)(lucid.ones(1, 4, 3)).abs().sum().detach()
    tensor(0.)
    """

    num_groups: int
    num_channels: int
    eps: float
    affine: bool
    weight: Any
    bias: Any

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(dtype, num_groups=num_groups, num_channels=num_channels, eps=eps, affine=affine)

    def reset_parameters(self) -> None:
        """Sets weight to one and bias to zero."""
        self._reset()


@layer
class LocalResponseNorm(Module):
    """x divided by a power of the mean of the squares of neighbouring channels.

    >>> lucid.nn.LocalResponseNorm(2)(lucid.zeros(1, 4, 3)).shape
    (1, 4, 3)
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        self._build(None, size=size, alpha=alpha, beta=beta, k=k)


class _StatisticsNorm(Module):
    """What norms with running statistics have in common."""

    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def reset_parameters(self) -> None:
        """Sets weight to one and bias to zero, and forgets the running statistics."""
        self._reset()

    def reset_running_stats(self) -> None:
        """Forgets the running statistics."""
        if self.running_mean is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()


class _BatchNorm(_StatisticsNorm):
    """Normalises over a batch."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            num_features=num_features,
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
        )


class _InstanceNorm(_StatisticsNorm):
    """Normalises each of a batch by itself."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            num_features=num_features,
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
        )


@layer
class BatchNorm1d(_BatchNorm):
    """Mean 0 and variance 1 for each channel over a batch of vectors or sequences, times weight plus bias.

    While training, running
    statistics take in `momentum` of each batch (None: the mean over all batches); otherwise they are used.

    >>> lucid.nn.BatchNorm1d(3)(lucid.randn(4, 3)).shape
    (4, 3)
    """


@layer
class BatchNorm2d(_BatchNorm):
    """Mean 0 and variance 1 for each channel over a batch of images, times weight plus bias. While training, running
    statistics take in `momentum` of each batch (None: the mean over all batches); otherwise they are used.

    >>> lucid.nn.BatchNorm2d(3)(lucid.randn(4, 3, 2, 2)).shape
    (4, 3, 2, 2)
    """


@layer
class BatchNorm3d(_BatchNorm):
    """Mean 0 and variance 1 for each channel over a batch of volumes, times weight plus bias. While training, running
    statistics take in `momentum` of each batch (None: the mean over all batches); otherwise they are used.

    >>> lucid.nn.BatchNorm3d(3)(lucid.randn(4, 3, 2, 2, 2)).shape
    (4, 3, 2, 2, 2)
    """


@layer
class InstanceNorm1d(_InstanceNorm):
    """Mean 0 and variance 1 for each channel of each of a batch of sequences.

    >>> lucid.nn.InstanceNorm1d(3)(lucid.randn(4, 3, 5)).shape
    (4, 3, 5)
    """


@layer
class InstanceNorm2d(_InstanceNorm):
    """Mean 0 and variance 1 for each channel of each of a batch of images.

    >>> lucid.nn.InstanceNorm2d(3)(lucid.randn(4, 3, 2, 2)).shape
    (4, 3, 2, 2)
    """


@layer
class InstanceNorm3d(_InstanceNorm):
    """Mean 0 and variance 1 for each channel of each of a batch of volumes.

    >>> lucid.nn.InstanceNorm3d(3)(lucid.randn(4, 3, 2, 2, 2)).shape
    (4, 3, 2, 2, 2)
    """
