"""Export of reductions, scans and softmax."""

from __future__ import annotations

import math

from .. import _core
from ._builder import Value, squared
from ._call import Call, direct, function
from ._dtypes import HALVES, computing, is_float, widened


def _reduced(c: Call, kind: str, dtype: _core.dtype) -> Value:
    return c.x(0, dtype).reduce(kind, c.reduced(), c["keepdim"])


@direct("sum", "mean", "prod")
def _sum(c: Call) -> Value | None:
    if c.wide not in (_core.float32, _core.float64, _core.int32, _core.int64) or 0 in c.value(0).shape:
        return None
    return _reduced(c, c.op.capitalize(), c.wide)


@function("sum", "mean", "prod")
def _sum_of_others(c: Call) -> Value:
    """Sums of nothing, which ONNX leaves open, and of small integers."""
    if c.count(c.reduced()) == 0:
        empty = {"sum": 0, "mean": math.nan, "prod": 1}[c.op]
        return c.scalar(empty).expand(c.fixed(c.shape))
    if 0 in c.sizes():
        return c.scalar(0).expand(c.fixed(c.shape))
    return _reduced(c, c.op.capitalize(), c.computing)


def _argmax(c: Call) -> Value:
    op = "ArgMax" if c.op in ("argmax", "max_dim") else "ArgMin"
    x = c.x(0, computing(c.value(0).dtype))
    if c["dim"] is None:
        found = x.reshape([-1])(op, axis=0, keepdims=0)
        return found.reshape(c.fixed(c.shape)) if c.shape else found
    if c.rank() == 0:
        return x.reshape([1])(op, axis=0, keepdims=0)
    return x(op, axis=c.dim(), keepdims=int(c["keepdim"]))


direct(
    argmax=_argmax,
    argmin=_argmax,
    amax=lambda c: _reduced(c, "Max", c.computing),
    amin=lambda c: _reduced(c, "Min", c.computing),
    max_dim=lambda c: [_reduced(c, "Max", c.computing).to(c.dtype), _argmax(c)],
    min_dim=lambda c: [_reduced(c, "Min", c.computing).to(c.dtype), _argmax(c)],
)


def _truth(c: Call) -> Value:
    """1 for elements that are not 0."""
    return c.x(0, _core.bool).cast(_core.int64)


@function("any", "all")
def _any(c: Call) -> Value:
    truth = _truth(c)
    if c.op == "any":
        return truth.reduce("Sum", c.reduced(), c["keepdim"]) > 0
    falsehood = c.scalar(1, _core.int64) - truth
    return falsehood.reduce("Sum", c.reduced(), c["keepdim"]).equals(0)


def variance(c: Call, x: Value, dims: list[int] | None, keepdim: bool, correction: float) -> tuple[Value, Value]:
    """The variance and the mean of a value."""
    mean = x.reduce("Mean", dims, True)
    centered = x - mean
    squares = squared(centered)
    if correction == 0:
        return squares.reduce("Mean", dims, keepdim), mean
    degrees = max(c.count(dims) - correction, 0)
    return squares.reduce("Sum", dims, keepdim) / degrees, mean


@function("var", "std", "var_mean")
def _var(c: Call) -> Value | list[Value]:
    found, _ = variance(c, c.x(), c.reduced(), c["keepdim"], c["correction"])
    if c.op == "var_mean":
        return [found, _reduced(c, "Mean", c.dtype)]
    return found("Sqrt") if c.op == "std" else found


@function("nansum", "nanmean")
def _nansum(c: Call) -> Value:
    source = c.value(0).dtype
    if not is_float(source):
        return _reduced(c, "Sum" if c.op == "nansum" else "Mean", c.dtype)
    x = c.x(0, widened(source))
    nan = x("IsNaN")
    total = nan.where(c.scalar(0, x.dtype), x).reduce("Sum", c.reduced(), c["keepdim"])
    if c.op == "nansum":
        return total
    return total / (~nan).cast(x.dtype).reduce("Sum", c.reduced(), c["keepdim"])


@direct("norm")
def _norm(c: Call) -> Value | None:
    if c["p"] not in (1, 2) or not is_float(c.dtype) or c.value(0).dtype is not c.dtype:
        return None
    return _reduced(c, "L1" if c["p"] == 1 else "L2", c.dtype)


def p_norm(c: Call, x: Value, p: float, dims: list[int] | None, keepdim: bool) -> Value:
    """The p-norm of a value in the dtype of the result."""
    size = x("Abs")
    if math.isinf(p):
        return size.reduce("Max" if p > 0 else "Min", dims, keepdim)
    if p == 0:
        return size.cast(_core.bool).cast(c.dtype).reduce("Sum", dims, keepdim)
    if p == 1:
        return size.reduce("Sum", dims, keepdim)
    if p == 2:
        return squared(x).reduce("Sum", dims, keepdim)("Sqrt")
    return size("Pow", p).reduce("Sum", dims, keepdim)("Pow", 1 / p)


function(
    count_nonzero=lambda c: _truth(c).reduce("Sum", c.reduced()),
    norm=lambda c: p_norm(c, c.x(), c["p"], c.reduced(), c["keepdim"]),
)


@direct("cumsum")
def _cumsum(c: Call) -> Value | None:
    if c.rank() == 0 or c.dtype not in (_core.float32, _core.float64, _core.int32, _core.int64):
        return None
    return c.x()("CumSum", c.scalar(c.dim(), _core.int64))


@function("cumsum", "cumprod")
def _scan(c: Call) -> Value:
    """The sum or product of the elements up to each position, by a mask with a further dimension."""
    dtype = widened(c.computing)
    x = c.x(0, dtype)
    rank = c.rank()
    if rank == 0:
        return x
    dim = c.dim()
    size = c.sizes()[dim]
    # The earlier element is in dimension `dim`, the position in a new last dimension.
    mask = [[position >= earlier for position in range(size)] for earlier in range(size)]
    shape = [1] * (rank + 1)
    shape[dim], shape[rank] = size, size
    kept = c.b.constant(mask, _core.bool).reshape(shape)
    neutral = c.scalar(0 if c.op == "cumsum" else 1, dtype)
    joined = kept.where(x.unsqueeze(rank), neutral).reduce("Sum" if c.op == "cumsum" else "Prod", [dim])
    order = list(range(rank - 1))
    order.insert(dim, rank - 1)
    return joined.transpose(order)


@function("diff")
def _diff(c: Call) -> Value:
    found, dim = c.x(), c.dim()
    size = c.sizes()[dim]
    for _ in range(min(c["n"], size)):
        later, earlier = found.slice(dim, 1, size), found.slice(dim, 0, size - 1)
        if c.dtype is _core.bool:
            found = later ^ earlier
        else:
            found = (later.to(c.computing) - earlier.to(c.computing)).to(c.dtype)
        size -= 1
    return found


@function("softmax", "log_softmax", "softmin")
def _softmax(c: Call) -> Value:
    x: Value = -c.x() if c.op == "softmin" else c.x()
    op = "LogSoftmax" if c.op == "log_softmax" else "Softmax"
    return x(op, axis=c.dim()) if c.rank() else x.reshape([1])(op, axis=0).reshape([])


@direct("logsumexp")
def _logsumexp(c: Call) -> Value | None:
    if c.value(0).dtype is not c.dtype or c.dtype in HALVES:
        return None
    return _reduced(c, "LogSumExp", c.dtype)


@function("logsumexp")
def _logsumexp_of_parts(c: Call) -> Value:
    x, dims = c.x(0, _core.float32), c.reduced()
    peak = x.reduce("Max", dims, True)
    found = (x - peak)("Exp").reduce("Sum", dims, True)("Log") + peak
    return found if c["keepdim"] else found.squeeze(*(range(c.rank()) if dims is None else dims))
