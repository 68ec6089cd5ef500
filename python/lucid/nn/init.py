"""Initialization of parameters. The functions write their tensor in place, without gradients, and return it."""

from __future__ import annotations

from typing import Any

from .. import _core, _effects
from .._core import Generator, Tensor

_effects.pure_module()

_init = _core.initializers


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Returns the recommended gain for a nonlinearity. `param` is the slope of 'leaky_relu'.

    >>> lucid.nn.init.calculate_gain("tanh")
    1.6666666666666667
    """
    return float(_init["calculate_gain"](nonlinearity, 0.01 if param is None else param))


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills the tensor with samples of the uniform distribution on [a, b).

    >>> lucid.nn.init.uniform_(lucid.empty(2), 3.0, 3.0)
    tensor([3., 3.])
    """
    return _run("uniform_", tensor, generator, a, b)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills the tensor with samples of a normal distribution.

    >>> lucid.nn.init.normal_(lucid.empty(2), 3.0, 0.0)
    tensor([3., 3.])
    """
    return _run("normal_", tensor, generator, mean, std)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fills the tensor with samples of a normal distribution truncated to [a, b].

    >>> bool((lucid.nn.init.trunc_normal_(lucid.empty(1000)).abs() <= 2).all())
    True
    """
    return _run("trunc_normal_", tensor, generator, mean, std, a, b)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fills the tensor with one value.

    >>> lucid.nn.init.constant_(lucid.empty(2), 3)
    tensor([3., 3.])
    """
    return _run("constant_", tensor, None, val)


def ones_(tensor: Tensor) -> Tensor:
    """Fills the tensor with ones.

    >>> lucid.nn.init.ones_(lucid.empty(2))
    tensor([1., 1.])
    """
    return _run("constant_", tensor, None, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fills the tensor with zeros.

    >>> lucid.nn.init.zeros_(lucid.ones(2))
    tensor([0., 0.])
    """
    return _run("constant_", tensor, None, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fills a matrix with the identity matrix.

    >>> lucid.nn.init.eye_(lucid.empty(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _run("eye_", tensor, None)


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fills the weight of a convolution with kernels that pass as many channels as possible through unchanged.

    The weight has 3, 4 or 5 dimensions. With `groups`, each group of output channels passes channels through.

    >>> lucid.nn.init.dirac_(lucid.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    return _run("dirac_", tensor, None, groups)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills the tensor with samples of the uniform distribution on +-gain * sqrt(6 / (fan_in + fan_out)).

    >>> bool((lucid.nn.init.xavier_uniform_(lucid.empty(3, 3)).abs() <= 1).all())
    True
    """
    return _run("xavier_uniform_", tensor, generator, gain)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills the tensor with normal samples of standard deviation gain * sqrt(2 / (fan_in + fan_out)).

    >>> lucid.nn.init.xavier_normal_(lucid.empty(2, 3), gain=0.0).sum()
    tensor(0.)
    """
    return _run("xavier_normal_", tensor, generator, gain)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fills the tensor with samples of the uniform distribution on +-gain * sqrt(3 / fan).

    Args:
        a: Slope of the leaky ReLU that follows, if `nonlinearity` is 'leaky_relu'.
        mode: 'fan_in' or 'fan_out'.
        nonlinearity: The nonlinearity that follows; determines the gain.

    >>> bool((lucid.nn.init.kaiming_uniform_(lucid.empty(3, 6), nonlinearity="relu").abs() <= 1).all())
    True
    """
    return _run("kaiming_uniform_", tensor, generator, a, mode, nonlinearity)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fills the tensor with normal samples of standard deviation gain / sqrt(fan).

    Takes the same arguments as kaiming_uniform_.

    >>> lucid.nn.init.kaiming_normal_(lucid.empty(2, 3)).shape
    (2, 3)
    """
    return _run("kaiming_normal_", tensor, generator, a, mode, nonlinearity)


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fills the tensor with orthogonal rows of length `gain`, or columns if there are fewer columns than rows.

    Dimensions after the first are flattened.

    >>> q = lucid.nn.init.orthogonal_(lucid.empty(2, 3))
    >>> lucid.allclose(q @ q.T, lucid.eye(2), atol=1e-6)
    True
    """
    return _run("orthogonal_", tensor, generator, gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fills a matrix with normal samples, and sets the fraction `sparsity` of each column to zero.

    >>> int((lucid.nn.init.sparse_(lucid.empty(10, 3), 0.5) == 0).sum())
    15
    """
    return _run("sparse_", tensor, generator, sparsity, std)


def _run(name: str, tensor: Tensor, generator: Generator | None, *arguments: Any) -> Tensor:
    _init[name](tensor, _core.default_generator() if generator is None else generator, *arguments)
    return tensor
