"""Functions whose arguments choose between several ops."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from . import _core, _effects
from ._core import Tensor

_effects.pure_module()

_ops = _core.ops


def expect_tensor(function: str, argument: str, value: Any) -> Tensor:
    """Returns `value`, or raises TypeError if it is not a tensor. For functions that read attributes of a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}: argument '{argument}' must be a tensor, not {_core.describe(value)}")
    return value


def _one_of(function: str, first: str, a: Any, second: str, b: Any) -> Any:
    if a is not None and b is not None:
        raise TypeError(f"{function}: got both '{first}' and '{second}'")
    return b if a is None else a


def _check_out(function: str, out: Any) -> bool:
    """Returns whether NumPy calls: np.max(x) calls x.max(axis=None, out=None), and expects an array.

    An `out` that was not given is `...`.
    """
    if out is not ... and out is not None:
        raise TypeError(f"{function}: 'out' is not supported; assign the result")
    return out is None


def _extreme(function: str, x: Any, dim: Any, keepdim: bool, other: Any, out: Any) -> Any:
    if _check_out(function, out):
        return _ops["amax" if function == "max" else "amin"](x, dim, keepdim)
    if other is None and isinstance(dim, Tensor):
        dim, other = None, dim
    if other is not None:
        if dim is not None:
            raise TypeError(f"{function}: takes 'dim' or 'other', not both")
        return _ops["maximum" if function == "max" else "minimum"](x, other)
    if dim is None:
        return _ops["amax" if function == "max" else "amin"](x, None, keepdim)
    return _ops[f"{function}_dim"](x, dim, keepdim)


def max(
    x: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    other: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    out: Any = ...,
) -> Any:
    """Returns the maximum of all elements.

    With `dim`, returns the maxima along that dimension and their indices. With `other`, or a tensor in place of `dim`,
    returns the elementwise maximum.

    >>> lucid.max(lucid.tensor([3, 1, 2]))
    tensor(3)
    >>> lucid.max(lucid.tensor([[1, 5], [4, 2]]), dim=1).indices
    tensor([1, 0])
    """
    return _extreme(
        "max", x, _one_of("max", "dim", dim, "axis", axis), keepdim if keepdims is None else keepdims, other, out
    )


def min(
    x: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    other: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    out: Any = ...,
) -> Any:
    """Returns the minimum of all elements.

    With `dim`, returns the minima along that dimension and their indices. With `other`, or a tensor in place of `dim`,
    returns the elementwise minimum.

    >>> lucid.min(lucid.tensor([3, 1, 2]))
    tensor(1)
    """
    return _extreme(
        "min", x, _one_of("min", "dim", dim, "axis", axis), keepdim if keepdims is None else keepdims, other, out
    )


def median(x: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None) -> Any:
    """Returns the median of all elements, the lower of two in the middle.

    With `dim`, returns the medians along that dimension and their indices.

    >>> lucid.median(lucid.tensor([3, 1, 2]))
    tensor(2)
    """
    dim = _one_of("median", "dim", dim, "axis", axis)
    if dim is None:
        return _ops["median"](x)
    return _ops["median_dim"](x, dim, keepdim if keepdims is None else keepdims)


def unique(
    x: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
    *,
    axis: int | None = None,
) -> Any:
    """Returns the distinct elements in sorted order, or the distinct slices along dimension `dim`.

    Args:
        return_inverse: Whether to also return, for each element of x, the index of its value.
        return_counts: Whether to also return how often each value occurs.

    >>> lucid.unique(lucid.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    values, inverse, counts = _ops["unique_all"](x, _one_of("unique", "dim", dim, "axis", axis))
    if not return_inverse and not return_counts:
        return values
    return (values, *((inverse,) if return_inverse else ()), *((counts,) if return_counts else ()))


def where(condition: Any, x: Any = None, y: Any = None, *, input: Any = None, other: Any = None) -> Any:
    """Selects elements of x where the condition is true, and of y elsewhere.

    With the condition alone, returns the indices where it is true, one tensor per dimension.

    >>> lucid.where(lucid.tensor([True, False]), 1.0, 0.0)
    tensor([1., 0.])
    >>> lucid.where(lucid.tensor([False, True, True]))
    (tensor([1, 2]),)
    """
    x = _one_of("where", "x", x, "input", input)
    y = _one_of("where", "y", y, "other", other)
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    return _ops["where"](condition, x, y)


def nonzero(x: Tensor, *, as_tuple: bool = False) -> Any:
    """Returns the indices of the elements that are not zero, one row per element.

    With `as_tuple`, returns one tensor per dimension instead.

    >>> lucid.nonzero(lucid.tensor([0, 3, 4]))
    tensor([[1],
            [2]])
    """
    found = _ops["nonzero"](x)
    return tuple(found.unbind(1)) if as_tuple else found


def _statistic(name: str, doc: str) -> Any:
    op = _ops[name]

    def function(
        x: Any,
        dim: Any = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
        unbiased: bool | None = None,
        axis: Any = None,
        keepdims: bool | None = None,
        dtype: Any = None,
        out: Any = ...,
        ddof: float | None = None,
    ) -> Any:
        _check_out(name, out)
        if dtype is not None:
            x = _core.as_tensor(x).to(dtype)
        if isinstance(dim, bool):  # PyTorch's var(x, unbiased)
            dim, unbiased = None, dim
        if unbiased is not None:
            if not isinstance(unbiased, bool):
                raise TypeError(f"{name}: argument 'unbiased' must be True or False, not {_core.describe(unbiased)}")
            correction = _one_of(name, "correction", correction, "unbiased", float(unbiased))
        correction = _one_of(name, "correction", correction, "ddof", ddof)
        return op(
            x,
            _one_of(name, "dim", dim, "axis", axis),
            keepdim if keepdims is None else keepdims,
            correction=1.0 if correction is None else correction,
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


var = _statistic(
    "var",
    """Returns the variance over the given dimensions, by default all.

    The divisor is the number of elements minus `correction`, which is 1 by default.

    >>> lucid.var(lucid.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """,
)
std = _statistic(
    "std",
    """Returns the standard deviation over the given dimensions, by default all: the square root of var.

    >>> lucid.std(lucid.tensor([1.0, 2.0, 3.0]))
    tensor(1.)
    """,
)
var_mean = _statistic(
    "var_mean",
    """Returns the variance and the mean over the given dimensions, by default all.

    >>> lucid.var_mean(lucid.tensor([1.0, 2.0, 3.0])).mean
    tensor(2.)
    """,
)


def allclose(x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Returns whether all elements are close: |x - y| <= atol + rtol * |y|.

    `equal_nan` says whether two nans count as close.

    >>> lucid.allclose(lucid.tensor([1.0]), lucid.tensor([1.0 + 1e-7]))
    True
    """
    return bool(_ops["isclose"](x, y, rtol, atol, equal_nan).all())


def equal(x: Tensor, y: Tensor) -> bool:
    """Returns whether two tensors have the same shape and the same elements.

    >>> lucid.equal(lucid.tensor([1, 2]), lucid.tensor([1, 2]))
    True
    """
    x, y = expect_tensor("equal", "x", x), expect_tensor("equal", "y", y)
    return x.shape == y.shape and bool((x == y).all())


def index_put(x: Tensor, indices: Sequence[Tensor], values: Any, accumulate: bool = False) -> Tensor:
    """Returns x with values written at the positions given by index tensors for the leading dimensions.

    With `accumulate`, the values are added to the elements instead.
    """
    return _ops["index_put"](x, values, indices, accumulate)


def tensordot(x: Any, y: Any, dims: Any = 2, dims_y: Any = None, *, axes: Any = None) -> Tensor:
    """Computes sums of products over several dimensions of two tensors of the same dtype.

    Args:
        dims: The number of dimensions, the last of x and the first of y. Or the dimensions of x, with those of y in
            `dims_y`. Or a pair of both.

    The result has the remaining dimensions of x, then those of y.

    >>> lucid.tensordot(lucid.ones(2, 3, 4), lucid.ones(3, 4, 5)).shape
    (2, 5)
    >>> lucid.tensordot(lucid.ones(2, 3), lucid.ones(4, 2), dims=([0], [1])).shape
    (3, 4)
    """
    if axes is not None:
        dims = axes
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if dims_y is None and isinstance(dims, list | tuple) and len(dims) == 2:
        dims, dims_y = dims
    return _ops["tensordot"](x, y, dims, dims_y)


def numel(x: Tensor) -> int:
    """Returns the number of elements."""
    return expect_tensor("numel", "x", x).numel()


def is_tensor(x: Any) -> bool:
    """Returns whether an object is a Tensor."""
    return isinstance(x, Tensor)


def is_floating_point(x: Tensor) -> bool:
    """Returns whether a tensor has a floating-point dtype."""
    return expect_tensor("is_floating_point", "x", x).dtype.is_floating_point


def result_type(*tensors: Any) -> _core.dtype:
    """Returns the dtype of the result of arithmetic on these tensors and numbers."""
    total = tensors[0]
    for other in tensors[1:]:
        total = (total + other) if builtins.any(isinstance(t, Tensor) for t in (total, other)) else max(total, other)
    return total.dtype if isinstance(total, Tensor) else _core.tensor(total).dtype


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Returns the shape that tensors of these shapes broadcast to.

    >>> lucid.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    rank = builtins.max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, rank - len(shape)):
            if size != 1 and result[i] != 1 and size != result[i]:
                raise ValueError(f"broadcast_shapes: the shapes {shapes} cannot be broadcast together")
            if size != 1:
                result[i] = size
    return tuple(result)
