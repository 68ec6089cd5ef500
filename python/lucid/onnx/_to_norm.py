"""Export of normalization and attention."""

from __future__ import annotations

import math

from .. import _core
from ._call import Call, Value, direct, function
from ._dtypes import HALVES, is_exact
from ._to_reduce import p_norm, variance


def _exact(c: Call, value: float) -> bool:
    """Whether an attribute of ONNX, which is f32, holds a number as exactly as the op uses it."""
    return c.dtype is not _core.float64 or is_exact(value, _core.float32)


def _computed_in(c: Call) -> _core.dtype:
    return _core.float32 if c.dtype in HALVES else c.dtype


@direct("layer_norm")
def _layer_norm(c: Call) -> str | None:
    if c.b.opset < 17 or not _exact(c, c["eps"]):
        return None
    shape = c.fixed(c["normalized_shape"])
    if c.has(2) and not c.has(1):
        return None
    weight = c.x(1) if c.has(1) else c.b.expand(c.scalar(1), shape)
    return c.b("LayerNormalization", c.x(0), weight, c.optional(2), axis=-len(shape), epsilon=c["eps"])


def _scaled(c: Call, x: str, weight: int, bias: int | None, dtype: _core.dtype, shape: list[int] | None = None) -> str:
    """Multiplies by a weight and adds a bias, if they are there."""
    for position, op in ((weight, "Mul"), (bias, "Add")):
        if position is not None and c.has(position):
            operand = c.x(position, dtype)
            x = c.b(op, x, operand if shape is None else c.b.reshape(operand, shape))
    return x


def _standardized(c: Call, x: str, dims: list[int], eps: float, dtype: _core.dtype) -> str:
    mean = c.b.reduce("ReduceMean", x, dims, True)
    centered = c.b("Sub", x, mean)
    var = c.b.reduce("ReduceMean", c.b("Mul", centered, centered), dims, True)
    return c.b("Div", centered, c.b("Sqrt", c.b("Add", var, c.scalar(eps, dtype))))


@function("layer_norm")
def _layer_norm_of_parts(c: Call) -> str:
    dtype = _computed_in(c)
    count = len(c["normalized_shape"])
    dims = list(range(c.rank() - count, c.rank()))
    found = _standardized(c, c.x(0, dtype), dims, c["eps"], dtype)
    return c.done(_scaled(c, found, 1, 2, dtype), dtype)


def _eps(c: Call) -> float:
    if c["eps"] is not None:
        return float(c["eps"])
    return 2.220446049250313e-16 if c.dtype is _core.float64 else 1.1920928955078125e-07


@direct("rms_norm")
def _rms_norm(c: Call) -> str | None:
    if c.b.opset < 23 or not _exact(c, _eps(c)) or not c.has(1) or c.dtype not in (_core.float32, _core.float64):
        return None
    return c.b("RMSNormalization", c.x(0), c.x(1), axis=-len(c["normalized_shape"]), epsilon=_eps(c))


@function("rms_norm")
def _rms_norm_of_parts(c: Call) -> str:
    dtype = _computed_in(c)
    x = c.x(0, dtype)
    dims = list(range(c.rank() - len(c["normalized_shape"]), c.rank()))
    square = c.b.reduce("ReduceMean", c.b("Mul", x, x), dims, True)
    found = c.b("Div", x, c.b("Sqrt", c.b("Add", square, c.scalar(_eps(c), dtype))))
    return c.done(_scaled(c, found, 1, None, dtype), dtype)


@direct("group_norm")
def _group_norm(c: Call) -> str | None:
    if c.b.opset < 21 or not _exact(c, c["eps"]) or not (c.has(2) and c.has(1)) or c.dtype is not _core.float32:
        return None
    if c.rank() < 3:
        return None
    return c.b("GroupNormalization", c.x(0), c.x(1), c.x(2), num_groups=c["num_groups"], epsilon=c["eps"])


@function("group_norm")
def _group_norm_of_parts(c: Call) -> str:
    dtype = _computed_in(c)
    sizes = c.sizes()
    groups = c["num_groups"]
    x = c.b.reshape(c.x(0, dtype), [sizes[0], groups, -1])
    found = c.b.reshape(_standardized(c, x, [2], c["eps"], dtype), sizes)
    return c.done(_scaled(c, found, 1, 2, dtype, [sizes[1]] + [1] * (len(sizes) - 2)), dtype)


@direct("batch_norm")
def _batch_norm(c: Call) -> list[str] | None:
    if c["training"] or not all(c.has(position) for position in range(1, 5)) or not _exact(c, c["eps"]):
        return None
    if c.dtype in HALVES or c.rank() < 2:
        return None
    found = c.b("BatchNormalization", c.x(0), c.x(3), c.x(4), c.x(1), c.x(2), epsilon=c["eps"])
    return [found, c.x(1), c.x(2)]


def _channels(c: Call) -> list[int]:
    """The shape in which one number for each channel broadcasts."""
    return [-1] + [1] * (c.rank() - 2)


@function("batch_norm", "instance_norm")
def _norm_of_channels(c: Call) -> list[str]:
    dtype = _computed_in(c)
    x = c.x(0, dtype)
    rank = c.rank()
    per_batch = c.op == "batch_norm"
    own = c["training"] if per_batch else c["use_input_stats"]
    shape = _channels(c)
    if not own:
        mean, var = c.b.reshape(c.x(1, dtype), shape), c.b.reshape(c.x(2, dtype), shape)
        running = [c.x(1), c.x(2)]
    else:
        dims = [0, *range(2, rank)] if per_batch else list(range(2, rank))
        var, mean = variance(c, x, dims, True, 0)
        running = _running(c, mean, var, dims, dtype)
    found = c.b("Div", c.b("Sub", x, mean), c.b("Sqrt", c.b("Add", var, c.scalar(c["eps"], dtype))))
    return [c.done(_scaled(c, found, 3, 4, dtype, shape), dtype), *running]


def _running(c: Call, mean: str, var: str, dims: list[int], dtype: _core.dtype) -> list[str]:
    """The running statistics after a step of training."""
    count = c.count(dims)
    unbiased = c.b("Mul", var, c.scalar(count / (count - 1) if count > 1 else math.nan, dtype))
    found = []
    for position, new in ((1, mean), (2, unbiased)):
        if c.op == "instance_norm":
            new = c.b.reduce("ReduceMean", new, [0], True)
        new = c.b.reshape(new, [-1])
        if c.has(position):
            old = c.b("Mul", c.x(position, dtype), c.scalar(1 - c["momentum"], dtype))
            new = c.b("Add", old, c.b("Mul", new, c.scalar(c["momentum"], dtype)))
        wanted = c.results[position].dtype
        found.append(new if wanted is dtype else c.b.cast(new, wanted))
    return found


@function("standardize")
def _standardize(c: Call) -> list[str]:
    dtype = _computed_in(c)
    x = c.x(0, dtype)
    dims = c.dims() or []
    if c["centered"]:
        var, mean = variance(c, x, dims, True, 0)
        x = c.b("Sub", x, mean)
    else:
        var = c.b.reduce("ReduceMean", c.b("Mul", x, x), dims, True)
        mean = None
    found = c.b("Div", x, c.b("Sqrt", c.b("Add", var, c.scalar(c["eps"], dtype))))
    parts = [_scaled(c, found, 1, 2, dtype), *([] if mean is None else [mean]), var]
    kinds = [kind.dtype for kind in c.results]
    return [part if kind is dtype else c.b.cast(part, kind) for part, kind in zip(parts, kinds)]


@function("normalize")
def _normalize(c: Call) -> str:
    x = c.x(0)
    size = p_norm(c, x, c["p"], [c.dim()] if c.rank() else None, True)
    return c.b("Div", x, c.b("Max", size, c.scalar(c["eps"])))


@direct("local_response_norm")
def _lrn(c: Call) -> str | None:
    if c["size"] % 2 == 0 or c.dtype is not _core.float32 or c.rank() != 4:
        return None
    return c.b("LRN", c.x(0), size=c["size"], alpha=c["alpha"], beta=c["beta"], bias=c["k"])


@function("local_response_norm")
def _lrn_of_parts(c: Call) -> str:
    size = c["size"]
    rank, channels = c.rank(), c.sizes()[1]
    before, after = size // 2, (size - 1) // 2
    squares = c.b("Mul", c.x(0), c.x(0))
    padded = c.b("Pad", squares, c.b.ints([0, before] + [0] * (rank - 1) + [after] + [0] * (rank - 2)), c.scalar(0))
    parts = [c.b.slice(padded, 1, i, i + channels) for i in range(size)]
    total = c.b("Sum", *parts)
    mean = c.b("Mul", total, c.scalar(c["alpha"] / size))
    return c.b("Div", c.x(0), c.b("Pow", c.b("Add", mean, c.scalar(c["k"])), c.scalar(c["beta"])))


# Attention.


@direct("scaled_dot_product_attention")
def _attention(c: Call) -> str | None:
    query, key, value = c.value(0), c.value(1), c.value(2)
    if c.b.opset < 23 or c["enable_gqa"] or c.dtype is not _core.float32 or c.has(3):
        return None
    # ONNX has no broadcasting of the leading dimensions, and aligns a causal mask differently if keys are cached.
    if len(query.shape) != 4 or query.shape[:2] != key.shape[:2] or key.shape[:2] != value.shape[:2]:
        return None
    if (c["is_causal"] and query.shape[2] != key.shape[2]) or 0 in key.shape:
        return None
    if c["scale"] is not None and not is_exact(c["scale"], _core.float32):
        return None
    return c.b("Attention", query.name, key.name, value.name, is_causal=int(c["is_causal"]), scale=c["scale"])


def _transposed(c: Call, x: str, rank: int) -> str:
    return c.b.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


def _weights(c: Call, query: Value, key: Value, mask: int, dtype: _core.dtype) -> str:
    """The weights of attention: 0 for queries that attend to no key."""
    width = c.fixed(query.shape[-1:])[0]
    scale = 1 / math.sqrt(width) if c["scale"] is None else c["scale"]
    scores = c.b("MatMul", query.name, _transposed(c, key.name, len(key.shape)))
    scores = c.b("Mul", scores, c.scalar(scale, dtype))
    hidden: str | None = None
    if c["is_causal"]:
        rows, columns = c.fixed([query.shape[-2], key.shape[-2]])
        later = [[j > i for j in range(columns)] for i in range(rows)]
        hidden = c.b.reshape(c.b.constant(later, _core.bool), [rows, columns])
    elif c.has(mask):
        if c.value(mask).dtype is _core.bool:
            hidden = c.b("Not", c.x(mask))
        else:
            scores = c.b("Add", scores, c.x(mask, dtype))
            hidden = c.b("Equal", c.x(mask, dtype), c.scalar(-math.inf, dtype))
    if hidden is None:
        return c.b("Softmax", scores, axis=-1)
    # A row of -inf alone has no softmax: its weights become 0.
    scores = c.b("Where", hidden, c.scalar(-1e30 if dtype is _core.float32 else -1e300, dtype), scores)
    return c.b("Where", hidden, c.scalar(0, dtype), c.b("Softmax", scores, axis=-1))


def _operand(c: Call, position: int, dtype: _core.dtype) -> Value:
    value = c.value(position)
    return value if value.dtype is dtype else Value(c.x(position, dtype), dtype, value.shape)


@function("scaled_dot_product_attention")
def _attention_of_parts(c: Call) -> str:
    dtype = _computed_in(c)
    query, key, value = (_operand(c, position, dtype) for position in range(3))
    if c["enable_gqa"]:
        key, value = _repeated(c, key, query), _repeated(c, value, query)
    return c.done(c.b("MatMul", _weights(c, query, key, 3, dtype), value.name), dtype)


def _repeated(c: Call, x: Value, query: Value) -> Value:
    """Each head for a group of heads of the query."""
    shape = c.fixed(x.shape)
    groups = c.fixed(query.shape)[-3] // shape[-3]
    if groups == 1:
        return x
    spread = c.b.unsqueeze(x.name, [len(shape) - 2])
    wide = [*shape[:-2], groups, *shape[-2:]]
    new = [*shape[:-3], shape[-3] * groups, *shape[-2:]]
    return Value(c.b.reshape(c.b.expand(spread, wide), new), x.dtype, tuple(new))


@function("attention_weights")
def _attention_weights(c: Call) -> str:
    dtype = _computed_in(c)
    query, key = _operand(c, 0, dtype), _operand(c, 1, dtype)
    return c.done(_weights(c, query, key, 2, dtype), dtype)
