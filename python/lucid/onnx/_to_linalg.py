"""Export of products of matrices."""

from __future__ import annotations

import math

from .. import _core
from ._call import Call, Value, direct, function, is_float
from ._dtypes import HALVES, is_exact
from ._to_pointwise import computing
from ._to_reduce import p_norm


@direct("matmul", "bmm", "mm", "mv", "dot", "vdot")
def _matmul(c: Call) -> str | None:
    dtype = computing(c.common())
    if 0 in c.sizes_or_none(0)[-1:]:
        return None
    return c.done(c.b("MatMul", c.x(0, dtype), c.x(1, dtype)), dtype)


@function("matmul", "bmm", "mm", "mv", "dot", "vdot")
def _empty_matmul(c: Call) -> str:
    return c.b.expand(c.scalar(0), c.fixed(c.shape))


@direct("outer")
def _outer(c: Call) -> str:
    dtype = computing(c.common())
    found = c.b("Mul", c.b.unsqueeze(c.x(0, dtype), [1]), c.b.unsqueeze(c.x(1, dtype), [0]))
    return c.done(found, dtype)


@function("inner")
def _inner(c: Call) -> str:
    if c.rank(0) == 0 or c.rank(1) == 0:
        return c.b("Mul", c.x(0, c.dtype), c.x(1, c.dtype))
    return _contracted(c, [c.rank(0) - 1], [c.rank(1) - 1])


def _contracted(c: Call, first: list[int], second: list[int]) -> str:
    """Sums of products over dimensions of the first two operands."""
    dtype = computing(c.dtype)
    x, y = c.sizes(0), c.sizes(1)
    left = [dim for dim in range(len(x)) if dim not in first]
    right = [dim for dim in range(len(y)) if dim not in second]
    depth = math.prod(x[dim] for dim in first)
    rows, columns = math.prod(x[dim] for dim in left), math.prod(y[dim] for dim in right)
    a = c.b.reshape(c.b.transpose(c.x(0, dtype), [*left, *first]), [rows, depth])
    b = c.b.reshape(c.b.transpose(c.x(1, dtype), [*second, *right]), [depth, columns])
    return c.done(c.b.reshape(c.b("MatMul", a, b), c.fixed(c.shape)), dtype)


@function("tensordot")
def _tensordot(c: Call) -> str:
    if c["dims_y"] is None:
        count = c["dims"][0]
        return _contracted(c, list(range(c.rank(0) - count, c.rank(0))), list(range(count)))
    return _contracted(c, c.dims("dims", 0) or [], c.dims("dims_y", 1) or [])


@direct("addmm")
def _addmm(c: Call) -> str | None:
    if c["beta"] == 0 or (
        c.dtype is not _core.float32 and not all(is_exact(c[k], _core.float32) for k in ("alpha", "beta"))
    ):
        return None
    if c.dtype is not _core.float32 and c.dtype is not _core.float64:
        return None
    return c.b("Gemm", c.x(1), c.x(2), c.x(0), alpha=float(c["alpha"]), beta=float(c["beta"]))


@function("addmm", "addmv", "baddbmm")
def _addmm_of_parts(c: Call) -> str:
    dtype = computing(c.dtype)
    dtype = _core.float32 if dtype in HALVES else dtype
    found = c.b("MatMul", c.x(1, dtype), c.x(2, dtype))
    if c["alpha"] != 1:
        found = c.b("Mul", found, c.scalar(c["alpha"], dtype))
    if c["beta"] == 0:
        return c.done(found, dtype)
    x = c.x(0, dtype)
    if c["beta"] != 1:
        x = c.b("Mul", x, c.scalar(c["beta"], dtype))
    return c.done(c.b("Add", found, x), dtype)


@direct("linear")
def _linear(c: Call) -> str | None:
    if not is_float(c.dtype) or c.dtype in HALVES or 0 in c.sizes_or_none(1):
        return None
    if c.rank(1) == 2 and c.rank(0) == 2:
        return c.b("Gemm", c.x(0), c.x(1), c.optional(2), transB=1)
    weight = c.b.transpose(c.x(1), [1, 0]) if c.rank(1) == 2 else c.x(1)
    found = c.b("MatMul", c.x(0), weight)
    return c.b("Add", found, c.x(2)) if c.has(2) else found


@function("linear")
def _linear_of_parts(c: Call) -> str:
    dtype = _core.float32 if c.dtype in HALVES else computing(c.dtype)
    if 0 in c.sizes(1)[-1:]:
        found = c.b.expand(c.scalar(0, dtype), c.fixed(c.shape))
    else:
        weight = c.b.transpose(c.x(1, dtype), [1, 0]) if c.rank(1) == 2 else c.x(1, dtype)
        found = c.b("MatMul", c.x(0, dtype), weight)
    return c.done(c.b("Add", found, c.x(2, dtype)) if c.has(2) else found, dtype)


@function("bilinear")
def _bilinear(c: Call) -> str:
    """x @ weight for each output, then a product with y and its sum."""
    outputs, rows, columns = c.sizes(2)
    lead = list(range(c.rank(0) - 1))
    weight = c.b.reshape(c.b.transpose(c.x(2), [1, 0, 2]), [rows, outputs * columns])
    products = c.b("MatMul", c.x(0), weight)
    shape = [*c.fixed(c.shape), columns]
    spread = c.b("Mul", c.b.reshape(products, shape), c.b.unsqueeze(c.x(1), [len(lead)]))
    found = c.b.reduce("ReduceSum", spread, [len(shape) - 1], False)
    return c.b("Add", found, c.x(3)) if c.has(3) else found


@direct("einsum")
def _einsum(c: Call) -> str | None:
    equation = c["equation"]
    operands = [operand for operand in c.operands if isinstance(operand, Value)]
    if c.dtype not in (_core.float32, _core.float64) or any(operand.dtype is not c.dtype for operand in operands):
        return None
    return c.b("Einsum", *(operand.name for operand in operands), equation=equation)


@function("einsum")
def _einsum_of_others(c: Call) -> str:
    dtype = _core.float32 if c.dtype in HALVES else computing(c.dtype)
    found = c.b("Einsum", *(c.x(i, dtype) for i in range(len(c.operands))), equation=c["equation"])
    return c.done(found, dtype)


@function("kron")
def _kron(c: Call) -> str:
    dtype = computing(c.common())
    rank = max(c.rank(0), c.rank(1))
    x = [1] * (rank - c.rank(0)) + c.sizes(0)
    y = [1] * (rank - c.rank(1)) + c.sizes(1)
    first = c.b.reshape(c.x(0, dtype), [size for each in x for size in (each, 1)])
    second = c.b.reshape(c.x(1, dtype), [size for each in y for size in (1, each)])
    return c.done(c.b.reshape(c.b("Mul", first, second), c.fixed(c.shape)), dtype)


@function("trace")
def _trace(c: Call) -> str:
    rows, columns = c.sizes()
    positions = [i * (columns + 1) for i in range(min(rows, columns))]
    flat = c.b.reshape(c.x(0, c.dtype), [rows * columns])
    return c.b.reduce("ReduceSum", c.b("Gather", flat, c.b.ints(positions)), [0], False)


@function("cdist")
def _cdist(c: Call) -> str:
    x, y = c.b.unsqueeze(c.x(0), [c.rank(0) - 1]), c.b.unsqueeze(c.x(1), [c.rank(1) - 2])
    return p_norm(c, c.b("Sub", x, y), c["p"], [len(c.shape)], False)
