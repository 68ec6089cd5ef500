"""Dropout layers. They act in training mode only; in evaluation mode they return their input."""

from __future__ import annotations

from .. import _effects
from .module import Module, layer

_effects.pure_module()

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _Dropout(Module):
    """The base class of dropout layers."""

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self._build(None, p=p, inplace=inplace)


@layer
class Dropout(_Dropout):
    """In training, sets each element to zero with probability `p` and scales the others by 1 / (1 - p).

    Args:
        p: Probability that an element is zeroed.
        inplace: Whether to overwrite the input with the result.

    >>> lucid.nn.Dropout().eval()(lucid.ones(2, 3)).min()
    tensor(1.)
    """


@layer
class Dropout1d(_Dropout):
    """In training, sets whole channels of sequences to zero with probability `p` and scales the others by 1 / (1 - p).

    The input has shape (N, C, L) or (C, L).

    >>> lucid.nn.Dropout1d().eval()(lucid.ones(2, 3, 4)).min()
    tensor(1.)
    """


@layer
class Dropout2d(_Dropout):
    """In training, sets whole channels of images to zero with probability `p` and scales the others by 1 / (1 - p).

    The input has shape (N, C, H, W) or (C, H, W).

    >>> lucid.nn.Dropout2d().eval()(lucid.ones(2, 3, 4, 4)).min()
    tensor(1.)
    """


@layer
class Dropout3d(_Dropout):
    """In training, sets whole channels of volumes to zero with probability `p` and scales the others by 1 / (1 - p).

    The input has shape (N, C, D, H, W) or (C, D, H, W).

    >>> lucid.nn.Dropout3d().eval()(lucid.ones(2, 3, 4, 4, 4)).min()
    tensor(1.)
    """


@layer
class AlphaDropout(_Dropout):
    """Dropout that preserves the mean and variance of normally distributed inputs. Intended for networks with SELU.

    >>> lucid.nn.AlphaDropout().eval()(lucid.ones(2, 3)).min()
    tensor(1.)
    """


@layer
class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels.

    >>> lucid.nn.FeatureAlphaDropout().eval()(lucid.ones(2, 3, 4)).min()
    tensor(1.)
    """
