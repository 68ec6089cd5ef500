"""Export of reductions, scans and softmax."""

from __future__ import annotations

import math

from .. import _core
from ._call import Call, direct, function, is_float
from ._dtypes import HALVES
from ._to_pointwise import computing


def reduced(c: Call, name: str = "dim") -> list[int] | None:
    """The reduced dimensions; None means all of them."""
    dims = c.dims(name)
    if not dims or c.rank() == 0:
        return None
    return dims


def _keeps(c: Call) -> bool:
    return bool(c["keepdim"])


@direct("sum", "mean", "prod")
def _sum(c: Call) -> str | None:
    dtype = c.dtype
    if dtype in HALVES:
        dtype = _core.float32
    if dtype not in (_core.float32, _core.float64, _core.int32, _core.int64):
        return None
    if 0 in c.sizes_or_none():
        return None
    op = {"sum": "ReduceSum", "mean": "ReduceMean", "prod": "ReduceProd"}[c.op]
    return c.done(c.b.reduce(op, c.x(0, dtype), reduced(c), _keeps(c)), dtype)


@function("sum", "mean", "prod")
def _sum_of_others(c: Call) -> str:
    """Sums of nothing, which ONNX leaves open, and of small integers."""
    if c.count(reduced(c)) == 0:
        empty = {"sum": 0, "mean": math.nan, "prod": 1}[c.op]
        return c.b.expand(c.scalar(empty), c.fixed(c.shape))
    if 0 in c.sizes():
        return c.b.expand(c.scalar(0), c.fixed(c.shape))
    dtype = computing(c.dtype)
    op = {"sum": "ReduceSum", "mean": "ReduceMean", "prod": "ReduceProd"}[c.op]
    return c.done(c.b.reduce(op, c.x(0, dtype), reduced(c), _keeps(c)), dtype)


@direct("amax", "amin")
def _amax(c: Call) -> str:
    dtype = computing(c.dtype)
    return c.done(
        c.b.reduce("ReduceMax" if c.op == "amax" else "ReduceMin", c.x(0, dtype), reduced(c), _keeps(c)), dtype
    )


def _arg(c: Call, op: str) -> str:
    dtype = computing(c.value(0).dtype)
    x = c.x(0, dtype)
    if c["dim"] is None:
        found = c.b(op, c.b.reshape(x, [-1]), axis=0, keepdims=0)
        return c.b.reshape(found, c.fixed(c.shape)) if c.shape else found
    if c.rank() == 0:
        return c.b(op, c.b.reshape(x, [1]), axis=0, keepdims=0)
    return c.b(op, x, axis=c.dim(), keepdims=int(_keeps(c)))


@direct("argmax", "argmin")
def _argmax(c: Call) -> str:
    return _arg(c, "ArgMax" if c.op == "argmax" else "ArgMin")


@direct("max_dim", "min_dim")
def _max_dim(c: Call) -> list[str]:
    largest = c.op == "max_dim"
    dtype = computing(c.dtype)
    dims = [c.dim()] if c.rank() else None
    values = c.b.reduce("ReduceMax" if largest else "ReduceMin", c.x(0, dtype), dims, _keeps(c))
    return [c.done(values, dtype), _arg(c, "ArgMax" if largest else "ArgMin")]


def _truth(c: Call) -> str:
    """1 for elements that are not 0."""
    return c.b.cast(c.x(0, _core.bool), _core.int64)


@function("any", "all")
def _any(c: Call) -> str:
    truth = _truth(c)
    if c.op == "any":
        return c.b("Greater", c.b.reduce("ReduceSum", truth, reduced(c), _keeps(c)), c.scalar(0, _core.int64))
    falsehood = c.b("Sub", c.scalar(1, _core.int64), truth)
    return c.b("Equal", c.b.reduce("ReduceSum", falsehood, reduced(c), _keeps(c)), c.scalar(0, _core.int64))


@function("count_nonzero")
def _count_nonzero(c: Call) -> str:
    return c.b.reduce("ReduceSum", _truth(c), reduced(c), False)


def variance(c: Call, x: str, dims: list[int] | None, keepdim: bool, correction: float) -> tuple[str, str]:
    """The variance and the mean of a value."""
    mean = c.b.reduce("ReduceMean", x, dims, True)
    centered = c.b("Sub", x, mean)
    squares = c.b("Mul", centered, centered)
    if correction == 0:
        found = c.b.reduce("ReduceMean", squares, dims, keepdim)
    else:
        degrees = max(c.count(dims) - correction, 0)
        found = c.b("Div", c.b.reduce("ReduceSum", squares, dims, keepdim), c.scalar(degrees))
    return found, mean


@function("var", "std", "var_mean")
def _var(c: Call) -> str | list[str]:
    dims = reduced(c)
    found, _ = variance(c, c.x(0, c.dtype), dims, _keeps(c), c["correction"])
    if c.op == "var_mean":
        return [found, c.b.reduce("ReduceMean", c.x(0, c.dtype), dims, _keeps(c))]
    return c.b("Sqrt", found) if c.op == "std" else found


@function("nansum", "nanmean")
def _nansum(c: Call) -> str:
    source = c.value(0).dtype
    dims = reduced(c)
    if not is_float(source):
        op = "ReduceSum" if c.op == "nansum" else "ReduceMean"
        return c.b.reduce(op, c.x(0, c.dtype), dims, _keeps(c))
    dtype = _core.float32 if source in HALVES else source
    x = c.x(0, dtype)
    nan = c.b("IsNaN", x)
    total = c.b.reduce("ReduceSum", c.b("Where", nan, c.scalar(0, dtype), x), dims, _keeps(c))
    if c.op == "nanmean":
        count = c.b.reduce("ReduceSum", c.b.cast(c.b("Not", nan), dtype), dims, _keeps(c))
        total = c.b("Div", total, count)
    return c.done(total, dtype)


@direct("norm")
def _norm(c: Call) -> str | None:
    if c["p"] not in (1, 2) or not is_float(c.dtype) or c.value(0).dtype is not c.dtype:
        return None
    return c.b.reduce("ReduceL1" if c["p"] == 1 else "ReduceL2", c.x(0), reduced(c), _keeps(c))


def p_norm(c: Call, x: str, p: float, dims: list[int] | None, keepdim: bool) -> str:
    """The p-norm of a value in the dtype of the result."""
    size = c.b("Abs", x)
    if p == math.inf or p == -math.inf:
        return c.b.reduce("ReduceMax" if p > 0 else "ReduceMin", size, dims, keepdim)
    if p == 0:
        truth = c.b.cast(c.b.cast(size, _core.bool), c.dtype)
        return c.b.reduce("ReduceSum", truth, dims, keepdim)
    if p == 1:
        return c.b.reduce("ReduceSum", size, dims, keepdim)
    if p == 2:
        return c.b("Sqrt", c.b.reduce("ReduceSum", c.b("Mul", x, x), dims, keepdim))
    total = c.b.reduce("ReduceSum", c.b("Pow", size, c.scalar(p)), dims, keepdim)
    return c.b("Pow", total, c.scalar(1 / p))


@function("norm")
def _p_norm(c: Call) -> str:
    return p_norm(c, c.x(0, c.dtype), c["p"], reduced(c), _keeps(c))


@direct("cumsum")
def _cumsum(c: Call) -> str | None:
    dtype = c.dtype
    if c.rank() == 0 or dtype not in (_core.float32, _core.float64, _core.int32, _core.int64):
        return None
    return c.b("CumSum", c.x(0, dtype), c.scalar(c.dim(), _core.int64))


@function("cumsum", "cumprod")
def _scan(c: Call) -> str:
    """The sum or product of the elements up to each position, by a mask with a further dimension."""
    dtype = computing(c.dtype)
    if dtype in HALVES:
        dtype = _core.float32
    x = c.x(0, dtype)
    if c.rank() == 0:
        return c.done(x, dtype)
    dim = c.dim()
    size = c.sizes()[dim]
    rank = c.rank()
    # The earlier element is in dimension `dim`, the position in a new last dimension.
    mask = [[position >= earlier for position in range(size)] for earlier in range(size)]
    shape = [1] * (rank + 1)
    shape[dim], shape[rank] = size, size
    kept = c.b.reshape(c.b.constant(mask, _core.bool), shape)
    neutral = c.scalar(0 if c.op == "cumsum" else 1, dtype)
    spread = c.b("Where", kept, c.b.unsqueeze(x, [rank]), neutral)
    op = "ReduceSum" if c.op == "cumsum" else "ReduceProd"
    joined = c.b.reduce(op, spread, [dim], False)
    order = list(range(rank - 1))
    order.insert(dim, rank - 1)
    return c.done(c.b.transpose(joined, order), dtype)


@function("diff")
def _diff(c: Call) -> str:
    found, dim = c.x(0), c.dim()
    size = c.sizes()[dim]
    for _ in range(min(c["n"], size)):
        later = c.b.slice(found, dim, 1, size)
        earlier = c.b.slice(found, dim, 0, size - 1)
        if c.dtype is _core.bool:
            found = c.b("Xor", later, earlier)
        else:
            dtype = computing(c.dtype)
            if dtype is not c.dtype:
                later, earlier = c.b.cast(later, dtype), c.b.cast(earlier, dtype)
            found = c.done(c.b("Sub", later, earlier), dtype)
        size -= 1
    return found


@direct("softmax", "log_softmax")
def _softmax(c: Call) -> str | None:
    if c.rank() == 0:
        return None
    return c.b("Softmax" if c.op == "softmax" else "LogSoftmax", c.x(0, c.dtype), axis=c.dim())


@function("softmax", "log_softmax", "softmin")
def _softmax_of_parts(c: Call) -> str:
    x = c.x(0, c.dtype)
    if c.op == "softmin":
        x = c.b("Neg", x)
    op = "LogSoftmax" if c.op == "log_softmax" else "Softmax"
    if c.rank() == 0:
        return c.b.reshape(c.b(op, c.b.reshape(x, [1]), axis=0), [])
    return c.b(op, x, axis=c.dim())


@direct("logsumexp")
def _logsumexp(c: Call) -> str | None:
    if c.value(0).dtype is not c.dtype or c.dtype in HALVES:
        return None
    return c.b.reduce("ReduceLogSumExp", c.x(0), reduced(c), _keeps(c))


@function("logsumexp")
def _logsumexp_of_parts(c: Call) -> str:
    x = c.x(0, _core.float32)
    dims = reduced(c)
    peak = c.b.reduce("ReduceMax", x, dims, True)
    total = c.b.reduce("ReduceSum", c.b("Exp", c.b("Sub", x, peak)), dims, True)
    found = c.b("Add", c.b("Log", total), peak)
    if not _keeps(c):
        found = c.b.squeeze(found, list(range(c.rank())) if dims is None else dims)
    return c.done(found, _core.float32)
