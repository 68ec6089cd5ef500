"""Export of normalization and attention."""

from __future__ import annotations

import math

from .. import _core
from ._builder import Value, squared
from ._call import Call, direct, function
from ._dtypes import HALVES, is_exact
from ._to_reduce import p_norm, variance


@direct("layer_norm")
def _layer_norm(c: Call) -> Value | None:
    if c.b.opset < 17 or not c.holds(c["eps"]):
        return None
    shape = c.fixed(c["normalized_shape"])
    if c.has(2) and not c.has(1):
        return None
    weight = c.x(1) if c.has(1) else c.scalar(1).expand(shape)
    return c.x()("LayerNormalization", weight, c.optional(2), axis=-len(shape), epsilon=c["eps"])


def _scaled(c: Call, x: Value, weight: int, bias: int | None, shape: list[int] | None = None) -> Value:
    """Multiplies by a weight and adds a bias, if they are there."""
    for position, op in ((weight, "Mul"), (bias, "Add")):
        if position is not None and c.has(position):
            operand = c.x(position, x.dtype)
            x = x(op, operand if shape is None else operand.reshape(shape))
    return x


def _standardized(c: Call, x: Value, dims: list[int]) -> Value:
    centered = x - x.reduce("Mean", dims, True)
    var = squared(centered).reduce("Mean", dims, True)
    return centered / var("Add", c["eps"])("Sqrt")


def _last(c: Call) -> list[int]:
    """The dimensions that are normalized."""
    return list(range(c.rank() - len(c["normalized_shape"]), c.rank()))


function(
    layer_norm=lambda c: _scaled(c, _standardized(c, c.x(0, c.wide), _last(c)), 1, 2),
    attention_weights=lambda c: _weights(c, _operand(c, 0), _operand(c, 1), 2),
)


def _eps(c: Call) -> float:
    if c["eps"] is not None:
        return float(c["eps"])
    return 2.220446049250313e-16 if c.dtype is _core.float64 else 1.1920928955078125e-07


@direct("rms_norm")
def _rms_norm(c: Call) -> Value | None:
    if c.b.opset < 23 or not c.holds(_eps(c)) or not c.has(1) or c.dtype not in (_core.float32, _core.float64):
        return None
    return c.x()("RMSNormalization", c.x(1), axis=-len(c["normalized_shape"]), epsilon=_eps(c))


@function("rms_norm")
def _rms_norm_of_parts(c: Call) -> Value:
    x = c.x(0, c.wide)
    square = squared(x).reduce("Mean", _last(c), True)
    return _scaled(c, x / (square + _eps(c))("Sqrt"), 1, None)


@direct("group_norm")
def _group_norm(c: Call) -> Value | None:
    if c.b.opset < 21 or c.dtype is not _core.float32 or not (c.has(2) and c.has(1)) or c.rank() < 3:
        return None
    return c.x()("GroupNormalization", c.x(1), c.x(2), num_groups=c["num_groups"], epsilon=c["eps"])


@function("group_norm")
def _group_norm_of_parts(c: Call) -> Value:
    sizes = c.sizes()
    x = c.x(0, c.wide).reshape([sizes[0], c["num_groups"], -1])
    found = _standardized(c, x, [2]).reshape(sizes)
    return _scaled(c, found, 1, 2, [sizes[1]] + [1] * (len(sizes) - 2))


@direct("batch_norm")
def _batch_norm(c: Call) -> list[Value] | None:
    is_whole = all(c.has(position) for position in range(1, 5)) and c.rank() >= 2 and not c["training"]
    if not is_whole or not c.holds(c["eps"]) or c.dtype in HALVES:
        return None
    mean, var = c.value(1), c.value(2)
    return [c.x()("BatchNormalization", c.x(3), c.x(4), mean, var, epsilon=c["eps"]), mean, var]


@function("batch_norm", "instance_norm")
def _norm_of_channels(c: Call) -> list[Value]:
    x = c.x(0, c.wide)
    per_batch = c.op == "batch_norm"
    # In this shape, one number for each channel broadcasts.
    shape = [-1] + [1] * (c.rank() - 2)
    if c["training"] if per_batch else c["use_input_stats"]:
        dims = [0, *range(2, c.rank())] if per_batch else list(range(2, c.rank()))
        var, mean = variance(c, x, dims, True, 0)
        running = _running(c, mean, var, dims)
    else:
        mean, var = c.x(1, x.dtype).reshape(shape), c.x(2, x.dtype).reshape(shape)
        running = [c.value(1), c.value(2)]
    found = (x - mean) / (var + c["eps"])("Sqrt")
    return [_scaled(c, found, 3, 4, shape), *running]


def _running(c: Call, mean: Value, var: Value, dims: list[int]) -> list[Value]:
    """The running statistics after a step of training."""
    count = c.count(dims)
    unbiased = var * (count / (count - 1) if count > 1 else math.nan)
    found = []
    for position, new in ((1, mean), (2, unbiased)):
        if c.op == "instance_norm":
            new = new.reduce("Mean", [0], True)
        new = new.reshape([-1])
        if c.has(position):
            old = c.x(position, new.dtype) * (1 - c["momentum"])
            new = old + new * c["momentum"]
        found.append(new.to(c.results[position].dtype))
    return found


@function("standardize")
def _standardize(c: Call) -> list[Value]:
    x, dims = c.x(0, c.wide), c.dims() or []
    means = []
    if c["centered"]:
        var, mean = variance(c, x, dims, True, 0)
        means = [mean]
        x = x - mean
    else:
        var = squared(x).reduce("Mean", dims, True)
    return [_scaled(c, x / (var + c["eps"])("Sqrt"), 1, 2), *means, var]


@function("normalize")
def _normalize(c: Call) -> Value:
    size = p_norm(c, c.x(), c["p"], [c.dim()] if c.rank() else None, True)
    return c.x() / size("Max", c["eps"])


@direct("local_response_norm")
def _lrn(c: Call) -> Value | None:
    if c["size"] % 2 == 0 or c.dtype is not _core.float32 or c.rank() != 4:
        return None
    return c.x()("LRN", size=c["size"], alpha=c["alpha"], beta=c["beta"], bias=c["k"])


@function("local_response_norm")
def _lrn_of_parts(c: Call) -> Value:
    size = c["size"]
    rank, channels = c.rank(), c.sizes()[1]
    before, after = size // 2, (size - 1) // 2
    padded = squared(c.x())("Pad", c.b.ints([0, before] + [0] * (rank - 1) + [after] + [0] * (rank - 2)), 0)
    total = c.b("Sum", *[padded.slice(1, i, i + channels) for i in range(size)])
    base: Value = total * (c["alpha"] / size) + c["k"]
    return c.x() / base("Pow", c["beta"])


# Attention.


@direct("scaled_dot_product_attention")
def _attention(c: Call) -> Value | None:
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
    return query("Attention", key, value, is_causal=int(c["is_causal"]), scale=c["scale"])


def _weights(c: Call, query: Value, key: Value, mask: int) -> Value:
    """The weights of attention: 0 for queries that attend to no key."""
    dtype, rank = query.dtype, len(key.shape)
    width = c.fixed(query.shape[-1:])[0]
    scale = 1 / math.sqrt(width) if c["scale"] is None else c["scale"]
    scores = query("MatMul", key.transpose([*range(rank - 2), rank - 1, rank - 2])) * scale
    hidden: Value | None = None
    if c["is_causal"]:
        rows, columns = c.fixed([query.shape[-2], key.shape[-2]])
        later = [[j > i for j in range(columns)] for i in range(rows)]
        hidden = c.b.constant(later, _core.bool).reshape([rows, columns])
    elif c.has(mask) and c.value(mask).dtype is _core.bool:
        hidden = ~c.value(mask)
    elif c.has(mask):
        scores = scores + c.x(mask, dtype)
        hidden = c.x(mask, dtype).equals(-math.inf)
    if hidden is None:
        return scores("Softmax", axis=-1)
    # A row of -inf alone has no softmax: its weights become 0.
    scores = hidden.where(-1e30 if dtype is _core.float32 else -1e300, scores)
    return hidden.where(c.scalar(0, dtype), scores("Softmax", axis=-1))


def _operand(c: Call, position: int) -> Value:
    return c.x(position, c.wide).shaped(c.value(position).shape)


@function("scaled_dot_product_attention")
def _attention_of_parts(c: Call) -> Value:
    query, key, value = (_operand(c, position) for position in range(3))
    if c["enable_gqa"]:
        key, value = _repeated(c, key, query), _repeated(c, value, query)
    return _weights(c, query, key, 3)("MatMul", value)


def _repeated(c: Call, x: Value, query: Value) -> Value:
    """Each head for a group of heads of the query."""
    shape = c.fixed(x.shape)
    groups = c.fixed(query.shape)[-3] // shape[-3]
    if groups == 1:
        return x
    spread = x.unsqueeze(len(shape) - 2)
    wide = [*shape[:-2], groups, *shape[-2:]]
    new = [*shape[:-3], shape[-3] * groups, *shape[-2:]]
    return spread.expand(wide).reshape(new).shaped(tuple(new))
