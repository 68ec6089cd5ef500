"""Nodes whose operands are all known before the call: shapes, axes and what is computed from them.

They run with NumPy on small arrays, so that shapes stay numbers. What is computed here is exact in every order. NumPy's
functions are those that compiled calls may use: not `broadcast_to`, nor what sets the error state.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _effects
from .._overloads import broadcast_shapes
from ._dtypes import ARRAY_TYPES, DTYPES
from ._from_movement import new_shape, shape_of, size_of, slices_of
from ._node import HOST_SIZE, Node, axes_of, integer, ints

_effects.pure_module()

HOST: dict[str, Callable[..., Any]] = {}


def _host(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function that runs nodes. It returns NotImplemented to leave a node to tensors."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        HOST.update(dict.fromkeys(names, run))
        return run

    return register


# NumPy's functions of the same operands.
_PLAIN: dict[str, Any] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Equal": np.equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Neg": np.negative,
    "Abs": np.abs,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Not": np.logical_not,
    "Identity": np.array,
    "Where": np.where,
}


@_host(*_PLAIN)
def _plain(node: Node, *operands: Any) -> Any:
    return _PLAIN[node.op](*operands)


@_host("Div", "Mod")
def _divided(node: Node, x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return np.divide(x, y) if node.op == "Div" and np.all(y) else NotImplemented
    if not np.all(y):
        node.fail("a division by 0")
    if node.op == "Mod":
        return np.fmod(x, y) if node.get("fmod") else np.mod(x, y)
    quotient = np.floor_divide(x, y)
    return (quotient + ((quotient < 0) & (quotient * y != x))).astype(x.dtype)


@_host("Min", "Max")
def _extreme(node: Node, *parts: Any) -> Any:
    return functools.reduce(np.minimum if node.op == "Min" else np.maximum, parts)


@_host("Cast", "CastLike")
def _cast(node: Node, x: Any, like: Any = None) -> Any:
    if like is not None:
        return x.astype(like.dtype)
    kind = ARRAY_TYPES.get(DTYPES.get(node.get("to")))  # type: ignore[arg-type]
    if kind is None or (x.dtype.kind == "f" and np.dtype(kind).kind in "iu" and not np.all(np.abs(x) < 2**31)):
        return NotImplemented
    return x.astype(kind)


@_host("Concat")
def _concat(node: Node, *parts: Any) -> Any:
    return np.concatenate(parts, node.axis(parts[0].ndim))


@_host("Gather")
def _gather(node: Node, x: Any, index: Any) -> Any:
    axis = node.axis(x.ndim)
    size = x.shape[axis]
    if np.any(index < -size) or np.any(index >= size):
        node.fail("an index is out of range")
    return np.take(x, index, axis)


@_host("Squeeze")
def _squeeze(node: Node, x: Any, axes: Any = None) -> Any:
    if axes is None:
        return np.squeeze(x)
    dims = axes_of(node, ints(node, axes, "axes"), x.ndim)
    if any(x.shape[dim] != 1 for dim in dims):
        node.fail("a squeezed dimension is not 1")
    return np.squeeze(x, tuple(dims))


@_host("Unsqueeze")
def _unsqueeze(node: Node, x: Any, axes: Any) -> Any:
    given = ints(node, axes, "axes")
    if x.ndim + len(given) > 32:
        node.fail("too many dimensions")
    return np.expand_dims(x, tuple(axes_of(node, given, x.ndim + len(given))))


@_host("Slice")
def _slice(node: Node, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    where = [slice(None)] * x.ndim
    for dim, *part in slices_of(node, x.ndim, starts, ends, axes, steps):
        where[dim] = slice(*part)
    return x[tuple(where)]


@_host("Reshape")
def _reshape(node: Node, x: Any, shape: Any) -> Any:
    return np.reshape(x, new_shape(node, x, shape))


@_host("Transpose")
def _transpose(node: Node, x: Any) -> Any:
    return np.transpose(x, node.get("perm"))


@_host("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin")
def _reduce(node: Node, x: Any, axes: Any = None) -> Any:
    """Only of integers: sums of floats depend on the order."""
    if x.dtype.kind != "i" or x.size == 0:
        return NotImplemented
    given = node.get("axes") if axes is None else ints(node, axes, "axes")
    if not given and node.get("noop_with_empty_axes"):
        return x
    dims = tuple(axes_of(node, given, x.ndim)) if given else None
    reduce: Any = {"ReduceProd": np.prod, "ReduceSum": np.sum, "ReduceMax": np.max, "ReduceMin": np.min}[node.op]
    found = reduce(x, axis=dims, keepdims=bool(node.get("keepdims")))
    return np.asarray(found).astype(x.dtype)


@_host("ConstantOfShape")
def _constant_of_shape(node: Node, shape: Any) -> Any:
    sizes = ints(node, shape, "shape")
    value = node.get("value", np.zeros(1, np.float32))
    if not isinstance(value, np.ndarray) or min(sizes, default=0) < 0 or math.prod(sizes) > HOST_SIZE:
        return NotImplemented
    return np.full(sizes, value.reshape(-1)[0], value.dtype)


@_host("Expand")
def _expand(node: Node, x: Any, shape: Any) -> Any:
    sizes = ints(node, shape, "shape")
    if min(sizes, default=0) < 0 or math.prod(sizes) * max(x.size, 1) > HOST_SIZE:
        return NotImplemented
    found = np.empty(broadcast_shapes(x.shape, tuple(sizes)), x.dtype)
    found[...] = x
    return found


@_host("Range")
def _range(node: Node, start: Any, limit: Any, delta: Any) -> Any:
    if start.dtype.kind != "i":
        return NotImplemented
    first, last, step = (integer(node, each, "a bound") for each in (start, limit, delta))
    if step == 0:
        node.fail("delta is 0")
    if (last - first) / step > HOST_SIZE:
        return NotImplemented
    return np.arange(first, last, step, dtype=start.dtype)


# They only look at the shape.
HOST |= {"Shape": shape_of, "Size": size_of}


def run_on_host(node: Node, operands: list[Any]) -> Any:
    """The result as an array, or NotImplemented."""
    run = HOST.get(node.op)
    if run is None:
        return NotImplemented
    try:
        found = run(node, *operands)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        node.fail(str(error))
    if found is NotImplemented:
        return found
    found = np.asarray(found)
    if operands and node.op in _PLAIN and found.dtype.kind == operands[0].dtype.kind:
        found = found.astype(operands[0].dtype)
    return NotImplemented if found.size > HOST_SIZE else found
