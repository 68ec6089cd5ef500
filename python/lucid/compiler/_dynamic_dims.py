"""Dynamic dimensions: dimensions of tensors that are marked because their sizes vary from call to call."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Sequence
from typing import NamedTuple

from .. import _core


class Bounds(NamedTuple):
    """Bounds for a size; None if there is none."""

    low: int | None = None
    high: int | None = None


# By the id of a tensor. Not by the tensor, whose == compares elements.
_marks: dict[int, tuple[weakref.ref[_core.Tensor], dict[int, Bounds]]] = {}


def marked_dims(x: _core.Tensor) -> dict[int, Bounds]:
    """The marked dimensions of a tensor."""
    found = _marks.get(id(x))
    return {} if found is None else found[1]


def mark_dynamic(x: _core.Tensor, dim: int | Sequence[int], *, min: int | None = None, max: int | None = None) -> None:
    """Marks dimensions of a tensor whose sizes vary from call to call.

    The first call of a compiled function with this tensor is then recorded for all sizes. Without a mark, the second
    call with another size is. `min` and `max` bound the sizes that will occur: a test in the function, such as
    `x.shape[0] > 512`, then does not limit the plan if all these sizes pass it. Calls with other sizes have plans of
    their own.

    >>> f = lucid.compile(lambda x: x / x.shape[0], wait=True)
    >>> x = lucid.ones(6, 2)
    >>> lucid.compiler.mark_dynamic(x, 0, max=64)
    >>> y, z = f(x), f(lucid.ones(9, 2))
    >>> f.cache_info().compiles, f.cache_info().hits
    (1, 1)
    """
    name = "lucid.compiler.mark_dynamic()"
    if not isinstance(x, _core.Tensor):
        raise TypeError(f"{name}: x must be a Tensor, got {type(x).__name__}")
    low, high = (None if bound is None else operator.index(bound) for bound in (min, max))
    if low is not None and high is not None and low > high:
        raise ValueError(f"{name}: min is {low}, which is greater than max, {high}")
    dims = [operator.index(each) for each in (dim if isinstance(dim, Sequence) else [dim])]
    for each in dims:
        if not -x.ndim <= each < x.ndim:
            raise IndexError(f"{name}: dim is {each}, but the tensor has {x.ndim} dimensions")
        size = x.shape[each]
        if (low is not None and size < low) or (high is not None and size > high):
            raise ValueError(f"{name}: dimension {each} has size {size}, which is not between min and max")
    key = id(x)
    marked = dict(marked_dims(x))
    marked.update({each % x.ndim: Bounds(low, high) for each in dims})
    _marks[key] = weakref.ref(x, lambda _: _marks.pop(key, None)), marked
