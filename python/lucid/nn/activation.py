"""Activation functions as modules."""

from __future__ import annotations

from typing import Any

from .. import _effects
from .module import Module, layer

_effects.pure_module()

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


@layer
class ReLU(Module):
    """Applies the rectified linear unit elementwise: `max(x, 0)`.

    `inplace` overwrites the input with the result.

    >>> lucid.nn.ReLU()(lucid.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class ReLU6(Module):
    """Clamps each element to [0, 6].

    >>> lucid.nn.ReLU6()(lucid.tensor([-1.0, 8.0]))
    tensor([0., 6.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class SiLU(Module):
    """Applies the sigmoid linear unit elementwise: `x * sigmoid(x)`. Also known as swish.

    >>> lucid.nn.SiLU()(lucid.zeros(1))
    tensor([0.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class Mish(Module):
    """Applies `x * tanh(softplus(x))` elementwise.

    >>> lucid.nn.Mish()(lucid.zeros(1))
    tensor([0.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class SELU(Module):
    """Applies ELU scaled so that activations keep mean 0 and variance 1.

    >>> lucid.nn.SELU()(lucid.zeros(1))
    tensor([0.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class Hardswish(Module):
    """Applies `x * hardsigmoid(x)` elementwise.

    >>> lucid.nn.Hardswish()(lucid.tensor([-4.0, 4.0]))
    tensor([-0., 4.])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class Hardsigmoid(Module):
    """Applies `x / 6 + 1/2`, clamped to [0, 1], elementwise.

    >>> lucid.nn.Hardsigmoid()(lucid.tensor([-4.0, 0.0]))
    tensor([0.0000, 0.5000])
    """

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        self._build(None, inplace=inplace)


@layer
class Sigmoid(Module):
    """Applies the logistic function elementwise: `1 / (1 + exp(-x))`.

    >>> lucid.nn.Sigmoid()(lucid.zeros(1))
    tensor([0.5000])
    """


@layer
class Tanh(Module):
    """Applies the hyperbolic tangent elementwise.

    >>> lucid.nn.Tanh()(lucid.zeros(1))
    tensor([0.])
    """


@layer
class LogSigmoid(Module):
    """Applies `log(sigmoid(x))` elementwise.

    >>> lucid.nn.LogSigmoid()(lucid.zeros(1))
    tensor([-0.6931])
    """


@layer
class Softsign(Module):
    """Applies `x / (1 + |x|)` elementwise.

    >>> lucid.nn.Softsign()(lucid.ones(1))
    tensor([0.5000])
    """


@layer
class Tanhshrink(Module):
    """Applies `x - tanh(x)` elementwise.

    >>> lucid.nn.Tanhshrink()(lucid.zeros(1))
    tensor([0.])
    """


@layer
class LeakyReLU(Module):
    """Applies `x` where it is positive and `negative_slope * x` elsewhere.

    >>> lucid.nn.LeakyReLU()(lucid.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])
    """

    negative_slope: float
    inplace: bool

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self._build(None, negative_slope=negative_slope, inplace=inplace)


@layer
class ELU(Module):
    """Applies `x` where it is positive and `alpha * (exp(x) - 1)` elsewhere.

    >>> lucid.nn.ELU()(lucid.zeros(1))
    tensor([0.])
    """

    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self._build(None, alpha=alpha, inplace=inplace)


@layer
class CELU(Module):
    """Applies `x` where it is positive and `alpha * (exp(x / alpha) - 1)` elsewhere.

    >>> lucid.nn.CELU()(lucid.zeros(1))
    tensor([0.])
    """

    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self._build(None, alpha=alpha, inplace=inplace)


@layer
class Hardshrink(Module):
    """Sets elements with `|x| <= lambd` to 0 and keeps the others.

    >>> lucid.nn.Hardshrink()(lucid.tensor([0.25, 1.0]))
    tensor([0., 1.])
    """

    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        self._build(None, lambd=lambd)


@layer
class Softshrink(Module):
    """Moves each element towards 0 by `lambd`, and to 0 if it is closer than that.

    >>> lucid.nn.Softshrink()(lucid.tensor([0.25, 1.0]))
    tensor([0.0000, 0.5000])
    """

    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        self._build(None, lambd=lambd)


@layer
class GELU(Module):
    """Applies the Gaussian error linear unit: `x` times the probability that a standard normal variable is below `x`.

    Args:
        approximate: 'none', or 'tanh' for the tanh approximation that older models use.

    >>> lucid.nn.GELU()(lucid.zeros(1))
    tensor([0.])
    """

    approximate: str

    def __init__(self, approximate: str = "none") -> None:
        self._build(None, approximate=approximate)


@layer
class Hardtanh(Module):
    """Clamps each element to [min_val, max_val].

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
    """Applies `log(1 + exp(beta * x)) / beta` elementwise, and `x` where `beta * x` is above `threshold`.

    >>> lucid.nn.Softplus()(lucid.zeros(1))
    tensor([0.6931])
    """

    beta: float
    threshold: float

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self._build(None, beta=beta, threshold=threshold)


@layer
class Threshold(Module):
    """Keeps elements above `threshold` and replaces the others with `value`.

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
    """Applies `x` where it is positive and `weight * x` elsewhere, with a learned weight.

    Args:
        num_parameters: 1 for a single weight, or the number of channels for one weight per channel.
        init: Initial value of the weights.

    >>> lucid.nn.PReLU()(lucid.tensor([-4.0, 4.0])).detach()
    tensor([-1.,  4.])
    """

    num_parameters: int
    weight: Any

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        self._build(dtype, device=device, num_parameters=num_parameters, init=init)


@layer
class RReLU(Module):
    """Applies LeakyReLU with random slopes.

    In training, each slope is sampled uniformly from [lower, upper]. In evaluation, the slope is their mean.

    >>> lucid.nn.RReLU(0.5, 0.5)(lucid.tensor([-4.0, 4.0]))
    tensor([-2.,  4.])
    """

    lower: float
    upper: float
    inplace: bool

    def __init__(self, lower: float = 0.125, upper: float = 0.3333333333333333, inplace: bool = False) -> None:
        self._build(None, lower=lower, upper=upper, inplace=inplace)


@layer
class GLU(Module):
    """Gated linear unit: the first half of dimension `dim` times the sigmoid of the second half.

    >>> lucid.nn.GLU()(lucid.tensor([4.0, 0.0]))
    tensor([2.])
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        self._build(None, dim=dim)


@layer
class Softmax(Module):
    """Applies softmax along dimension `dim`: `exp(x) / sum(exp(x))`.

    >>> lucid.nn.Softmax(dim=0)(lucid.zeros(2))
    tensor([0.5000, 0.5000])
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        self._build(None, dim=dim)


@layer
class LogSoftmax(Module):
    """Applies the logarithm of softmax along dimension `dim`.

    >>> lucid.nn.LogSoftmax(dim=0)(lucid.zeros(2))
    tensor([-0.6931, -0.6931])
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        self._build(None, dim=dim)


@layer
class Softmin(Module):
    """Applies softmax to `-x` along dimension `dim`.

    >>> lucid.nn.Softmin(dim=0)(lucid.zeros(2))
    tensor([0.5000, 0.5000])
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        self._build(None, dim=dim)


@layer
class Softmax2d(Module):
    """Applies softmax over the channels of images of shape (N, C, H, W) or (C, H, W).

    >>> lucid.nn.Softmax2d()(lucid.zeros(2, 1, 1)).flatten()
    tensor([0.5000, 0.5000])
    """
