"""Export of products of matrices."""

from __future__ import annotations

import math

from .. import _core
from ._builder import Value
from ._call import Call, direct, function
from ._dtypes import FLOATS, HALVES, computing, widened
from ._to_reduce import p_norm

_PRODUCTS = ("matmul", "bmm", "mm", "mv", "dot", "vdot")


@direct(*_PRODUCTS)
def _matmul(c: Call) -> Value | None:
    if 0 in c.value(0).shape[-1:]:
        return None
    x, y = c.xs(2, computing(c.common()))
    return x("MatMul", y)


def _is_plain(c: Call) -> bool:
    return c.dtype in FLOATS - HALVES and all(operand.dtype is c.dtype for operand in c.operands)


direct(einsum=lambda c: c.b("Einsum", *c.operands, equation=c["equation"]) if _is_plain(c) else None)
function(
    **dict.fromkeys(_PRODUCTS, lambda c: c.scalar(0).expand(c.fixed(c.shape))),
    einsum=lambda c: c.b("Einsum", *c.xs(len(c.operands), widened(c.computing)), equation=c["equation"]),
)


@direct("outer")
def _outer(c: Call) -> Value:
    dtype = computing(c.common())
    return c.x(0, dtype).unsqueeze(1) * c.x(1, dtype).unsqueeze(0)


@function("inner")
def _inner(c: Call) -> Value:
    if c.rank(0) == 0 or c.rank(1) == 0:
        return c.x(0) * c.x(1)
    return _contracted(c, [c.rank(0) - 1], [c.rank(1) - 1])


def _contracted(c: Call, first: list[int], second: list[int]) -> Value:
    """Sums of products over dimensions of the first two operands."""
    x, y = c.sizes(0), c.sizes(1)
    left = [dim for dim in range(len(x)) if dim not in first]
    right = [dim for dim in range(len(y)) if dim not in second]
    depth = math.prod(x[dim] for dim in first)
    rows, columns = math.prod(x[dim] for dim in left), math.prod(y[dim] for dim in right)
    a = c.x(0, c.computing).transpose([*left, *first]).reshape([rows, depth])
    b = c.x(1, c.computing).transpose([*second, *right]).reshape([depth, columns])
    return a("MatMul", b).reshape(c.fixed(c.shape))


@function("tensordot")
def _tensordot(c: Call) -> Value:
    if c["dims_y"] is None:
        count = c["dims"][0]
        return _contracted(c, list(range(c.rank(0) - count, c.rank(0))), list(range(count)))
    return _contracted(c, c.dims("dims", 0) or [], c.dims("dims_y", 1) or [])


@direct("addmm")
def _addmm(c: Call) -> Value | None:
    alpha, beta = float(c["alpha"]), float(c["beta"])
    if beta == 0 or c.dtype not in (_core.float32, _core.float64) or not c.holds(alpha, beta):
        return None
    return c.x(1)("Gemm", c.x(2), c.x(0), alpha=alpha, beta=beta)


@function("addmm", "addmv", "baddbmm")
def _addmm_of_parts(c: Call) -> Value:
    dtype = widened(c.computing)
    found = c.x(1, dtype)("MatMul", c.x(2, dtype))
    if c["alpha"] != 1:
        found = found * c["alpha"]
    if c["beta"] == 0:
        return found
    x = c.x(0, dtype)
    return found + (x if c["beta"] == 1 else x * c["beta"])


def _with_bias(c: Call, found: Value) -> Value:
    return found + c.x(2, found.dtype) if c.has(2) else found


def _weight(c: Call, dtype: _core.dtype) -> Value:
    weight = c.x(1, dtype)
    return weight.transpose([1, 0]) if c.rank(1) == 2 else weight


@direct("linear")
def _linear(c: Call) -> Value | None:
    if c.dtype not in FLOATS - HALVES or 0 in c.value(1).shape:
        return None
    if c.rank(1) == 2 and c.rank(0) == 2:
        return c.x()("Gemm", c.x(1), c.optional(2), transB=1)
    weight = _weight(c, c.dtype)
    return _with_bias(c, c.x()("MatMul", weight))


@function("linear")
def _linear_of_parts(c: Call) -> Value:
    dtype = widened(c.computing)
    if 0 in c.sizes(1)[-1:]:
        return _with_bias(c, c.scalar(0, dtype).expand(c.fixed(c.shape)))
    weight = _weight(c, dtype)
    return _with_bias(c, c.x(0, dtype)("MatMul", weight))


@function("bilinear")
def _bilinear(c: Call) -> Value:
    """x @ weight for each output, then a product with y and its sum."""
    outputs, rows, columns = c.sizes(2)
    weight = c.x(2).transpose([1, 0, 2]).reshape([rows, outputs * columns])
    shape = [*c.fixed(c.shape), columns]
    spread = c.x()("MatMul", weight).reshape(shape) * c.x(1).unsqueeze(c.rank(0) - 1)
    found = spread.reduce("Sum", [len(shape) - 1])
    return found + c.x(3) if c.has(3) else found


@function("kron")
def _kron(c: Call) -> Value:
    dtype = computing(c.common())
    rank = max(c.rank(0), c.rank(1))
    x = [1] * (rank - c.rank(0)) + c.sizes(0)
    y = [1] * (rank - c.rank(1)) + c.sizes(1)
    first = c.x(0, dtype).reshape([size for each in x for size in (each, 1)])
    second = c.x(1, dtype).reshape([size for each in y for size in (1, each)])
    return (first * second).reshape(c.fixed(c.shape))


@function("trace")
def _trace(c: Call) -> Value:
    rows, columns = c.sizes()
    positions = [i * (columns + 1) for i in range(min(rows, columns))]
    return c.x().reshape([rows * columns])("Gather", c.b.ints(positions)).reduce("Sum", [0])


@function("cdist")
def _cdist(c: Call) -> Value:
    x, y = c.x(0).unsqueeze(c.rank(0) - 1), c.x(1).unsqueeze(c.rank(1) - 2)
    return p_norm(c, x - y, c["p"], [len(c.shape)], False)
