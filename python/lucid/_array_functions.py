"""Functions of the array API standard that differ from the op of the same name, or have none.

Their public namespace is `array_api.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

from . import _core, _effects, _overloads
from ._core import Tensor, promote_types

_effects.pure_module()

_ops = _core.ops

_exp = _ops["exp"]
_isinf = _ops["isinf"]
_isnan = _ops["isnan"]
_log1p = _ops["log1p"]
_maximum = _ops["maximum"]
_minimum = _ops["minimum"]
_sqrt = _ops["sqrt"]
_where = _ops["where"]


class UniqueAllResult(NamedTuple):
    """The result of unique_all."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """The result of unique_counts."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """The result of unique_inverse."""

    values: Tensor
    inverse_indices: Tensor


# Elementwise functions.


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    """Clamps each element to [min, max]. A bound that is None does not apply."""
    return x.clone() if min is None and max is None else _ops["clamp"](x, min, max)


def copysign(x1: Any, x2: Any, /) -> Tensor:
    """Returns the magnitudes of x1 with the signs of x2."""
    size = _ops["abs"](x1)
    return _where(signbit(x2), -size, size)


def hypot(x1: Any, x2: Any, /) -> Tensor:
    """Returns sqrt(x1 ** 2 + x2 ** 2) without intermediate overflow."""
    a, b = _ops["abs"](x1), _ops["abs"](x2)
    large, small = _maximum(a, b), _minimum(a, b)
    ratio = _where(large == 0, 0.0, small / large)
    return _where(_isinf(a) | _isinf(b), inf, large * _sqrt(ratio * ratio + 1))


def logaddexp(x1: Any, x2: Any, /) -> Tensor:
    """Returns log(exp(x1) + exp(x2)) without intermediate overflow."""
    distance = _ops["abs"](_ops["sub"](x1, x2))
    return _maximum(x1, x2) + _log1p(_exp(-_where(_isnan(distance), 0.0, distance)))


def nextafter(x1: Any, x2: Any, /) -> Tensor:
    """Returns the next representable value after x1 in the direction of x2. Not differentiable; computed by NumPy."""
    import numpy

    target = _core.as_tensor(x2, dtype=x1.dtype)
    return _core.from_numpy(numpy.asarray(numpy.nextafter(x1.detach().numpy(), target.detach().numpy())))


def positive(x: Tensor, /) -> Tensor:
    """Returns a copy of x."""
    return x.clone()


def real(x: Tensor, /) -> Tensor:
    """Returns x: all dtypes are real."""
    return x


def conj(x: Tensor, /) -> Tensor:
    """Returns x: all dtypes are real."""
    return x


def signbit(x: Tensor, /) -> Tensor:
    """Returns whether the sign is negative; true for -0.0."""
    if not x.dtype.is_floating_point:
        return x < 0
    negative: Tensor = (x < 0) | ((x == 0) & (1.0 / x < 0))
    return negative


# Manipulation and indexing.


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Broadcasts tensors to a common shape."""
    shape = _overloads.broadcast_shapes(*(array.shape for array in arrays))
    return [array.expand(shape) for array in arrays]


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Joins tensors along an axis. None flattens them first."""
    if axis is None:
        return _ops["cat"]([array.reshape(-1) for array in arrays], 0)
    return _ops["cat"](arrays, axis)


def expand_dims(x: Tensor, /, *, axis: int = 0) -> Tensor:
    """Inserts a dimension of size 1."""
    return x.unsqueeze(axis)


def flip(x: Tensor, /, *, axis: Any = None) -> Tensor:
    """Reverses the order of elements along an axis, several axes, or all."""
    return x.flip(_axes(x, axis))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """Swaps the last two dimensions."""
    return x.mT


def repeat(x: Tensor, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Repeats each element of an axis. `repeats` is a number, or a tensor with one per element."""
    if not isinstance(repeats, Tensor):
        return _ops["repeat_interleave"](x, repeats, axis)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    ends = repeats.expand((x.shape[axis],)).cumsum(0)
    return x.index_select(axis, _ops["searchsorted"](ends, _ops["arange"](int(ends[-1].item())), right=True))


def reshape(x: Tensor, /, shape: Any, *, copy: bool | None = None) -> Tensor:
    """Returns x with another shape. See asarray for `copy`."""
    if copy is False:
        return x.view(tuple(shape))
    result = x.reshape(tuple(shape))
    return result.clone() if copy and result.data_ptr() == x.data_ptr() else result


def roll(x: Tensor, /, shift: Any, *, axis: Any = None) -> Tensor:
    """Shifts elements along an axis; those shifted past the end reappear at the beginning."""
    return _ops["roll"](x, shift) if axis is None else _ops["roll"](x, shift, axis)


def squeeze(x: Tensor, /, axis: Any) -> Tensor:
    """Removes dimensions of size 1."""
    axes = _axes(x, axis)
    for one in axes:
        if x.shape[one] != 1:
            raise ValueError(f"squeeze: dimension {one} of shape {x.shape} does not have size 1")
    return x.squeeze(axes)


def take(x: Tensor, indices: Tensor, /, *, axis: int = 0) -> Tensor:
    """Selects elements along an axis by index."""
    return x.index_select(axis, indices.long())


def tile(x: Tensor, repetitions: Any, /) -> Tensor:
    """Repeats x as a whole, `repetitions` times along each dimension."""
    return _ops["tile"](x, tuple(repetitions))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Splits x along an axis into tensors without it."""
    return tuple(x.unbind(axis))


def _axes(x: Tensor, axis: Any) -> tuple[int, ...]:
    """Returns the axes as a tuple; None means all."""
    if axis is None:
        return tuple(range(x.dim()))
    return (axis,) if isinstance(axis, int) else tuple(axis)


# Products.


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    """Contracts axes of x1 with axes of x2: the last and first `axes`, or two sequences of axes."""
    if isinstance(axes, int):
        return _ops["tensordot"](x1, x2, axes)
    return _ops["tensordot"](x1, x2, tuple(axes[0]), tuple(axes[1]))


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Returns the dot product along an axis."""
    return (x1 * x2).sum(axis).to(promote_types(x1.dtype, x2.dtype))


# Searching, sorting and sets.


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Returns the index of the maximum along an axis, or in the flattened tensor."""
    return _ops["argmax"](x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Returns the index of the minimum along an axis, or in the flattened tensor."""
    return _ops["argmin"](x, axis, keepdims)


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Returns the indices that sort x along an axis."""
    return _ops["argsort"](x, axis, descending, stable=stable)


def count_nonzero(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Counts the elements that are not zero."""
    count: Tensor = (x != 0).sum(axis, keepdims)
    return count


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Returns the indices of the elements that are not zero, one tensor per dimension."""
    return tuple(_overloads.nonzero(x, as_tuple=True))


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Returns the positions at which the values of x2 would be inserted into the sorted x1.

    `side` selects the position before ('left') or after ('right') equal elements. `sorter` holds indices that sort x1.
    """
    ordered = x1 if sorter is None else x1.index_select(0, sorter.long())
    return _ops["searchsorted"](ordered, x2, right=side == "right")


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Returns x sorted along an axis."""
    return _ops["sort"](x, axis, descending, stable=stable)[0]


def unique_all(x: Tensor, /) -> UniqueAllResult:
    """Returns the distinct values, the index of the first occurrence of each, the inverse indices and the counts."""
    values, inverse, counts = _ops["unique_all"](x)
    order = _ops["argsort"](inverse.reshape(-1), stable=True)
    first = order.index_select(0, counts.cumsum(0) - counts)
    return UniqueAllResult(values, first, inverse.reshape(x.shape), counts)


def unique_counts(x: Tensor, /) -> UniqueCountsResult:
    """Returns the distinct values and their counts."""
    values, _, counts = _ops["unique_all"](x)
    return UniqueCountsResult(values, counts)


def unique_inverse(x: Tensor, /) -> UniqueInverseResult:
    """Returns the distinct values and, for each element of x, the index of its value."""
    values, inverse, _ = _ops["unique_all"](x)
    return UniqueInverseResult(values, inverse.reshape(x.shape))


def unique_values(x: Tensor, /) -> Tensor:
    """Returns the distinct values."""
    return _ops["unique_all"](x)[0]


# Statistics.


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Returns the cumulative product along an axis. `include_initial` prepends a 1."""
    return _cumulative("cumprod", 1, x, axis, dtype, include_initial)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Returns the cumulative sum along an axis. `include_initial` prepends a 0."""
    return _cumulative("cumsum", 0, x, axis, dtype, include_initial)


def _cumulative(op: str, initial: int, x: Tensor, axis: int | None, dtype: Any, include: bool) -> Tensor:
    if axis is None:
        if x.dim() != 1:
            raise ValueError(f"{op}: a tensor of shape {x.shape} needs an axis")
        axis = 0
    result: Tensor = _ops[op](x, axis, dtype=dtype)
    if not include:
        return result
    shape = [1 if i == axis % x.dim() else size for i, size in enumerate(result.shape)]
    return _ops["cat"]([result.new_full(shape, initial), result], axis)


def diff(x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Tensor:
    """Returns the n-th differences of neighbouring elements along an axis."""
    parts = [part for part in (prepend, x, append) if part is not None]
    return _ops["diff"](x if len(parts) == 1 else _ops["cat"](parts, axis), n, axis)


def max(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Returns the maximum along an axis, several axes, or all."""
    return _ops["amax"](x, axis, keepdims)


def min(x: Tensor, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Returns the minimum along an axis, several axes, or all."""
    return _ops["amin"](x, axis, keepdims)


def std(x: Tensor, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Returns the standard deviation, with divisor N - correction."""
    return _ops["std"](x, axis, keepdims, correction=correction)


def var(x: Tensor, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Returns the variance, with divisor N - correction."""
    return _ops["var"](x, axis, keepdims, correction=correction)
