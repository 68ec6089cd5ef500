"""Linear layers, and modules that change shapes."""

from __future__ import annotations

from typing import Any

from .. import _effects
from .module import Module, layer

_effects.pure_module()

__all__ = ["Bilinear", "Flatten", "Identity", "LazyLinear", "Linear", "Unflatten"]


@layer
class Linear(Module):
    """Applies an affine transformation to the last dimension: `x @ weight.T + bias`.

    `weight` has shape (out_features, in_features) and `bias` shape (out_features,). Both are initialized from the
    uniform distribution on +-1 / sqrt(in_features).

    Args:
        in_features: Size of the last dimension of the input.
        out_features: Size of the last dimension of the output.
        bias: Whether to add a bias.

    >>> lucid.nn.Linear(3, 2)(lucid.ones(5, 3)).shape
    (5, 2)
    """

    in_features: int
    out_features: int
    weight: Any
    bias: Any

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        self._build(dtype, device=device, in_features=in_features, out_features=out_features, _bias=bias)

    def reset_parameters(self) -> None:
        """Initializes weight and bias again."""
        self._reset()


@layer
class LazyLinear(Linear):
    """A Linear that takes `in_features` from the first input.

    >>> layer = lucid.nn.LazyLinear(2)
    >>> _ = layer(lucid.ones(5, 3))
    >>> layer
    LazyLinear(in_features=3, out_features=2, bias=True)
    """

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        self._build(dtype, device=device, out_features=out_features, _bias=bias)


@layer
class Bilinear(Module):
    """Applies a bilinear transformation to two inputs: `y[o] = x1 @ weight[o] @ x2 + bias[o]`.

    Args:
        in1_features: Size of the last dimension of the first input.
        in2_features: Size of the last dimension of the second input.
        out_features: Size of the last dimension of the output.
        bias: Whether to add a bias.

    >>> lucid.nn.Bilinear(2, 3, 4)(lucid.ones(5, 2), lucid.ones(5, 3)).shape
    (5, 4)
    """

    _inputs = "input1, input2"

    in1_features: int
    in2_features: int
    out_features: int
    weight: Any
    bias: Any

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._build(
            dtype,
            device=device,
            in1_features=in1_features,
            in2_features=in2_features,
            out_features=out_features,
            _bias=bias,
        )


@layer
class Identity(Module):
    """Returns its input. The constructor accepts and ignores any arguments; calls ignore all but the first.

    >>> lucid.nn.Identity(54, unused=True)(lucid.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()


@layer
class Flatten(Module):
    """Flattens the dimensions from `start_dim` to `end_dim` into one. By default, keeps the batch dimension.

    >>> lucid.nn.Flatten()(lucid.ones(2, 3, 4)).shape
    (2, 12)
    """

    start_dim: int
    end_dim: int

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self._build(None, start_dim=start_dim, end_dim=end_dim)


@layer
class Unflatten(Module):
    """Expands dimension `dim` to the shape `unflattened_size`. The inverse of Flatten.

    >>> lucid.nn.Unflatten(1, (3, 4))(lucid.ones(2, 12)).shape
    (2, 3, 4)
    """

    dim: int
    unflattened_size: tuple[int, ...]

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]) -> None:
        self._build(None, dim=dim, unflattened_size=unflattened_size)
