"""Normalization layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _effects
from .module import Module, layer

_effects.pure_module()

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]


@layer
class LayerNorm(Module):
    """Normalizes the last dimensions to mean 0 and variance 1, then applies `* weight + bias`.

    Args:
        normalized_shape: Sizes of the dimensions to normalize over.
        eps: Added to the variance for numerical stability.
        elementwise_affine: Whether to learn a weight and a bias of shape `normalized_shape`.
        bias: Whether to learn a bias, if `elementwise_affine`.

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
            dtype,
            device=device,
            normalized_shape=normalized_shape,
            eps=eps,
            elementwise_affine=elementwise_affine,
            _bias=bias,
        )

    def reset_parameters(self) -> None:
        """Resets weight to one and bias to zero."""
        self._reset()


@layer
class RMSNorm(Module):
    """Divides the input by its root mean square over the last dimensions, then multiplies by `weight`.

    Args:
        normalized_shape: Sizes of the dimensions to normalize over.
        eps: Added to the mean square for numerical stability; by default the epsilon of the dtype.
        elementwise_affine: Whether to learn a weight of shape `normalized_shape`.

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
        self._build(
            dtype, device=device, normalized_shape=normalized_shape, eps=eps, elementwise_affine=elementwise_affine
        )

    def reset_parameters(self) -> None:
        """Resets weight to one."""
        self._reset()


@layer
class GroupNorm(Module):
    """Normalizes each group of channels to mean 0 and variance 1, then applies `* weight + bias` per channel.

    Args:
        num_groups: Number of groups; divides `num_channels`.
        num_channels: Number of channels of the input, of shape (N, C, ...).
        eps: Added to the variance for numerical stability.
        affine: Whether to learn a weight and a bias per channel.

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
        self._build(dtype, device=device, num_groups=num_groups, num_channels=num_channels, eps=eps, affine=affine)

    def reset_parameters(self) -> None:
        """Resets weight to one and bias to zero."""
        self._reset()


@layer
class LocalResponseNorm(Module):
    """Divides the input by `(k + alpha * m) ** beta`, where m is the mean square of `size` neighbouring channels.

    Channels beyond the ends count as 0.

    >>> lucid.nn.LocalResponseNorm(2)(lucid.zeros(1, 4, 3)).shape
    (1, 4, 3)
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        self._build(None, size=size, alpha=alpha, beta=beta, k=k)


class _StatisticsNorm(Module):
    """The attributes of norms with running statistics."""

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
        """Resets weight to one, bias to zero, and the running statistics."""
        self._reset()

    def reset_running_stats(self) -> None:
        """Resets the running mean to zero, the running variance to one and the number of batches to zero."""
        if self.running_mean is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()


class _BatchNorm(_StatisticsNorm):
    """The base class of norms over a batch."""

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
            device=device,
            num_features=num_features,
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
        )


class _InstanceNorm(_StatisticsNorm):
    """The base class of norms over each sample of a batch."""

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
            device=device,
            num_features=num_features,
            eps=eps,
            momentum=momentum,
            affine=affine,
            track_running_stats=track_running_stats,
        )


@layer
class BatchNorm1d(_BatchNorm):
    """Normalizes each channel over the batch to mean 0 and variance 1, then applies `* weight + bias`.

    The input has shape (N, C) or (N, C, L). Training uses the statistics of the batch and updates the running
    statistics. Evaluation uses the running statistics.

    Args:
        num_features: Number of channels C.
        eps: Added to the variance for numerical stability.
        momentum: Weight of a new batch in the running statistics. None averages over all batches.
        affine: Whether to learn a weight and a bias per channel.
        track_running_stats: Whether to keep running statistics. Without them, evaluation uses the batch too.

    >>> lucid.nn.BatchNorm1d(3)(lucid.randn(4, 3)).shape
    (4, 3)
    """


@layer
class BatchNorm2d(_BatchNorm):
    """Normalizes each channel over the batch to mean 0 and variance 1, then applies `* weight + bias`.

    The input has shape (N, C, H, W). Training uses the statistics of the batch and updates the running
    statistics. Evaluation uses the running statistics.

    Args:
        num_features: Number of channels C.
        eps: Added to the variance for numerical stability.
        momentum: Weight of a new batch in the running statistics. None averages over all batches.
        affine: Whether to learn a weight and a bias per channel.
        track_running_stats: Whether to keep running statistics. Without them, evaluation uses the batch too.

    >>> lucid.nn.BatchNorm2d(3)(lucid.randn(4, 3, 2, 2)).shape
    (4, 3, 2, 2)
    """


@layer
class BatchNorm3d(_BatchNorm):
    """Normalizes each channel over the batch to mean 0 and variance 1, then applies `* weight + bias`.

    The input has shape (N, C, D, H, W). Training uses the statistics of the batch and updates the running
    statistics. Evaluation uses the running statistics.

    Args:
        num_features: Number of channels C.
        eps: Added to the variance for numerical stability.
        momentum: Weight of a new batch in the running statistics. None averages over all batches.
        affine: Whether to learn a weight and a bias per channel.
        track_running_stats: Whether to keep running statistics. Without them, evaluation uses the batch too.

    >>> lucid.nn.BatchNorm3d(3)(lucid.randn(4, 3, 2, 2, 2)).shape
    (4, 3, 2, 2, 2)
    """


@layer
class InstanceNorm1d(_InstanceNorm):
    """Normalizes each channel of each sample to mean 0 and variance 1.

    The input has shape (N, C, L) or (C, L). Takes the same arguments as BatchNorm, but by default there are
    no weights and no running statistics.

    >>> lucid.nn.InstanceNorm1d(3)(lucid.randn(4, 3, 5)).shape
    (4, 3, 5)
    """


@layer
class InstanceNorm2d(_InstanceNorm):
    """Normalizes each channel of each sample to mean 0 and variance 1.

    The input has shape (N, C, H, W) or (C, H, W). Takes the same arguments as BatchNorm, but by default there are
    no weights and no running statistics.

    >>> lucid.nn.InstanceNorm2d(3)(lucid.randn(4, 3, 2, 2)).shape
    (4, 3, 2, 2)
    """


@layer
class InstanceNorm3d(_InstanceNorm):
    """Normalizes each channel of each sample to mean 0 and variance 1.

    The input has shape (N, C, D, H, W) or (C, D, H, W). Takes the same arguments as BatchNorm, but by default there are
    no weights and no running statistics.

    >>> lucid.nn.InstanceNorm3d(3)(lucid.randn(4, 3, 2, 2, 2)).shape
    (4, 3, 2, 2, 2)
    """
