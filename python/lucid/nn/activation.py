"""Nonlinearities."""

from __future__ import annotations

from typing import Any

from .. import _effects
from .module import Module, layer

_effects.pure_module()


@layer
class ReLU(Module):
    """The larger of x and 0.

    >>> lucid.nn.ReLU()(lucid.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class ReLU6(Module):
    """x held between 0 and 6.

    >>> lucid.nn.ReLU6()(lucid.tensor([-1.0, 8.0]))
    tensor([0., 6.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class SiLU(Module):
    """x * sigmoid(x).

    >>> lucid.nn.SiLU()(lucid.zeros(1))
    tensor([0.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class Mish(Module):
    """x * tanh(softplus(x)).

    >>> lucid.nn.Mish()(lucid.zeros(1))
    tensor([0.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class SELU(Module):
    """elu scaled so that activations keep mean 0 and variance 1.

    >>> lucid.nn.SELU()(lucid.zeros(1))
    tensor([0.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class Hardswish(Module):
    """x * hardsigmoid(x).

    >>> lucid.nn.Hardswish()(lucid.tensor([-4.0, 4.0]))
    tensor([-0., 4.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class Hardsigmoid(Module):
    """x / 6 + 1/2, held between 0 and 1.

    >>> lucid.nn.Hardsigmoid()(lucid.tensor([-4.0, 0.0]))
    tensor([0.0000, 0.5000])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    >>> lucid.nn.Sigmoid()(lucid.zeros(1))
    tensor([0.5000])
    """


@layer
class Tanh(Module):
    """The hyperbolic tangent.

    >>> lucid.nn.Tanh()(lucid.zeros(1))
    tensor([0.])
    """


@layer
class LogSigmoid(Module):
    """log(sigmoid(x)).

    >>> lucid.nn.LogSigmoid()(lucid.zeros(1))
    tensor([-0.6931])
    """


@layer
class Softsign(Module):
    """x / (1 + |x|).

    >>> lucid.nn.Softsign()(lucid.ones(1))
    tensor([0.5000])
    """


@layer
class Tanhshrink(Module):
    """x - tanh(x).

    >>> lucid.nn.Tanhshrink()(lucid.zeros(1))
    tensor([0.])
    """


@layer
class LeakyReLU(Module):
    """x where it is above 0, else negative_slope * x.

    >>> lucid.nn.LeakyReLU()(lucid.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])
    """

    negative_slope: float
    inplace: bool

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self._build(None, negative_slope=negative_slope, inplace=inplace)


@layer
class ELU(Module):
    """x where it is above 0, else alpha * (exp(x) - 1).

    >>> lucid.nn.ELU()(lucid.zeros(1))
    tensor([0.])
    """

    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self._build(None, alpha=alpha, inplace=inplace)


@layer
class CELU(Module):
    """x where it is above 0, else alpha * (exp(x / alpha) - 1).

    >>> lucid.nn.CELU()(lucid.zeros(1))
    tensor([0.])
    """

    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self._build(None, alpha=alpha, inplace=inplace)


@layer
class Hardshrink(Module):
    """x, but 0 where |x| is at most lambd.

    >>> lucid.nn.Hardshrink()(lucid.tensor([0.25, 1.0]))
    tensor([0., 1.])
    """

    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        self._build(None, lambd=lambd)


@layer
class Softshrink(Module):
    """x moved towards 0 by lambd.

    >>> lucid.nn.Softshrink()(lucid.tensor([0.25, 1.0]))
    tensor([0.0000, 0.5000])
    """

    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        self._build(None, lambd=lambd)


@layer
class GELU(Module):
    """x times the probability that a normal variable is below x. approximate='tanh' is what old models have.

    >>> lucid.nn.GELU()(lucid.zeros(1))
    tensor([0.])
    """

    approximate: str

    def __init__(self, approximate: str = "none") -> None:
        self._build(None, approximate=approximate)


@layer
class Hardtanh(Module):
    """x held between two bounds.

    >>> lucid.nn.Hardtanh()(lucid.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """

    min_val: float
    max_val: float
    inplace: bool

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        self._build(None, min_val=min_val, max_val=max_val, inplace=inplace)


@layer
class Softplus(Module):
    """log(1 + exp(beta * x)) / beta, and x where beta * x is above the threshold.

    >>> lucid.nn.Softplus()(lucid.zeros(1))
    tensor([0.6931])
    """

    beta: float
    threshold: float

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self._build(None, beta=beta, threshold=threshold)


@layer
class Threshold(Module):
    """x where it is above the threshold, else value.

    >>> lucid.nn.Threshold(0.5, 9.0)(lucid.tensor([0.25, 1.0]))
    tensor([9., 1.])
    """

    threshold: float
    value: float
    inplace: bool

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        self._build(None, threshold=threshold, value=value, inplace=inplace)


@layer
class PReLU(Module):
    """x where it is above 0, else weight * x, with one learned weight or one for each channel.

    >>> lucid.nn.PReLU()(lucid.tensor([-4.0, 4.0])).detach()
    tensor([-1.,  4.])
    """

    num_parameters: int
    weight: Any

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        self._build(dtype, num_parameters=num_parameters, init=init)


@layer
class RReLU(Module):
    """leaky_relu with slopes drawn from [lower, upper] while training, and their mean otherwise.

    >>> lucid.nn.RReLU(0.5, 0.5)(lucid.tensor([-4.0, 4.0]))
    tensor([-2.,  4.])
    """

    lower: float
    upper: float
    inplace: bool

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        self._build(None, lower=lower, upper=upper, inplace=inplace)


@layer
class GLU(Module):
    """The first half of a dimension times the sigmoid of the second.

    >>> lucid.nn.GLU()(lucid.tensor([4.0, 0.0]))
    tensor([2.])
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        self._build(None, dim=dim)


@layer
class Softmax(Module):
    """exp(x), divided by its sum over a dimension.

    >>> lucid.nn.Softmax(dim=0)(lucid.zeros(2))
    tensor([0.5000, 0.5000])
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        self._build(None, dim=dim)


@layer
class LogSoftmax(Module):
    """The logarithm of softmax.

    >>> lucid.nn.LogSoftmax(dim=0)(lucid.zeros(2))
    tensor([-0.6931, -0.6931])
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        self._build(None, dim=dim)


@layer
class Softmin(Module):
    """The softmax of -x.

    >>> lucid.nn.Softmin(dim=0)(lucid.zeros(2))
    tensor([0.5000, 0.5000])
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        self._build(None, dim=dim)


@layer
class Softmax2d(Module):
    """The softmax over the channels of images.

    >>> lucid.nn.Softmax2d()(lucid.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """
