"""Modules that drop elements at random while training."""

from __future__ import annotations

from .. import _effects
from .module import Module, layer

_effects.pure_module()


class _Dropout(Module):
    """What all that drop have in common."""

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self._build(None, p=p, inplace=inplace)


@layer
class Dropout(_Dropout):
    """Each element zero with probability p while training, the others scaled up by 1 / (1 - p).

    >>> lucid.nn.Dropout().eval()(lucid.ones(2, 3)).min()
    tensor(1.)
    """


@layer
class Dropout1d(_Dropout):
    """The same for whole channels of sequences.

    >>> lucid.nn.Dropout1d().eval()(lucid.ones(2, 3, 4)).min()
    tensor(1.)
    """


@layer
class Dropout2d(_Dropout):
    """The same for whole channels of images.

    >>> lucid.nn.Dropout2d().eval()(lucid.ones(2, 3, 4, 4)).min()
    tensor(1.)
    """


@layer
class Dropout3d(_Dropout):
    """The same for whole channels of volumes.

    >>> lucid.nn.Dropout3d().eval()(lucid.ones(2, 3, 4, 4, 4)).min()
    tensor(1.)
    """


@layer
class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance of normal inputs, for networks of SELU.

    >>> lucid.nn.AlphaDropout().eval()(lucid.ones(2, 3)).min()
    tensor(1.)
    """


@layer
class FeatureAlphaDropout(_Dropout):
    """AlphaDropout of whole channels.

    >>> lucid.nn.FeatureAlphaDropout().eval()(lucid.ones(2, 3, 4)).min()
    tensor(1.)
    """
