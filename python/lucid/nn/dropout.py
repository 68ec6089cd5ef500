"""Modules that drop elements at random while training."""

from __future__ import annotations

from .module import Module, layer


@layer
class Dropout(Module):
    """Each element zero with probability p while training, the others scaled up by 1 / (1 - p).

    >>> lucid.nn.Dropout().eval()(lucid.ones(2, 3)).min()
    tensor(1.)
    """

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self._build(None, p=p, inplace=inplace)


@layer
class Dropout1d(Module):
    """The same for whole channels of sequences.

    >>> lucid.nn.Dropout1d().eval()(lucid.ones(2, 3, 4)).min()
    tensor(1.)
    """

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self._build(None, p=p, inplace=inplace)


@layer
class Dropout2d(Module):
    """The same for whole channels of images.

    >>> lucid.nn.Dropout2d().eval()(lucid.ones(2, 3, 4, 4)).min()
    tensor(1.)
    """

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self._build(None, p=p, inplace=inplace)


@layer
class Dropout3d(Module):
    """The same for whole channels of volumes.

    >>> lucid.nn.Dropout3d().eval()(lucid.ones(2, 3, 4, 4, 4)).min()
    tensor(1.)
    """

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self._build(None, p=p, inplace=inplace)


@layer
class AlphaDropout(Module):
    """Dropout that keeps mean and variance of normal inputs, for networks of SELU.

    >>> lucid.nn.AlphaDropout().eval()(lucid.ones(2, 3)).min()
    tensor(1.)
    """

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self._build(None, p=p, inplace=inplace)


@layer
class FeatureAlphaDropout(Module):
    """AlphaDropout of whole channels.

    >>> lucid.nn.FeatureAlphaDropout().eval()(lucid.ones(2, 3, 4)).min()
    tensor(1.)
    """

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        self._build(None, p=p, inplace=inplace)
