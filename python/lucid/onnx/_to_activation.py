"""Export of activation functions."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from ._builder import Value
from ._call import Call, direct, function


def _above(c: Call, below: Value) -> Value:
    """The operand where it is above 0, and something else below."""
    return (c.x() > 0).where(c.x(), below)


def _leaky(c: Call, slope: Any) -> Value:
    return (c.x() < 0).where(c.x() * slope, c.x())


def _clipped_line(c: Call) -> Value:
    return (c.x() / 6 + 0.5)("Clip", 0, 1)


function(
    relu=lambda c: c.x(0, _core.float32 if c.dtype is _core.bfloat16 else _core.int64)("Max", 0).cast(c.dtype),
    relu6=lambda c: c.x()("Clip", 0, 6),
    hardtanh=lambda c: c.x()("Clip", c["min_val"], c["max_val"]),
    threshold=lambda c: (c.x() > c["threshold"]).where(c.x(), c["value"]),
    leaky_relu=lambda c: _leaky(c, c["negative_slope"]),
    rrelu=lambda c: _leaky(c, c.scalar((c["lower"] + c["upper"]) / 2)),
    elu=lambda c: _above(c, (c.x()("Exp") - 1) * c["alpha"]),
    celu=lambda c: _above(c, ((c.x() / c["alpha"])("Exp") - 1) * c["alpha"]),
    selu=lambda c: (
        _above(c, (c.x()("Exp") - 1) * 1.6732632423543772848170429916717) * 1.0507009873554804934193349852946
    ),
    logsigmoid=lambda c: -(-c.x())("Softplus"),
    hardsigmoid=_clipped_line,
    hardswish=lambda c: c.x() * _clipped_line(c),
    silu=lambda c: c.x() * c.x()("Sigmoid"),
    mish=lambda c: c.x() * c.x()("Softplus")("Tanh"),
    tanhshrink=lambda c: c.x() - c.x()("Tanh"),
)


@function("softplus")
def _softplus(c: Call) -> Value:
    scaled: Value = c.x() * c["beta"]
    soft = scaled("Softplus") / c["beta"]
    return scaled("Greater", c["threshold"]).where(c.x(), soft)


@direct("hardshrink", "softshrink")
def _shrink(c: Call) -> Value | None:
    bias = c["lambd"] if c.op == "softshrink" else 0.0
    return c.x()("Shrink", lambd=c["lambd"], bias=bias) if c.holds(c["lambd"]) else None


@function("hardshrink", "softshrink")
def _shrink_of_f64(c: Call) -> Value:
    x = c.x()
    bias = c.scalar(c["lambd"] if c.op == "softshrink" else 0.0)
    above, below = x("Greater", c["lambd"]), x("Less", -c["lambd"])
    low = below.where(x + bias, 0)
    return above.where(x - bias, low)


@direct("prelu")
def _prelu(c: Call) -> Value:
    """The slopes of channels, which are dimension 1."""
    weight = c.value(1)
    count = c.fixed(weight.shape)[0] if weight.shape else 1
    rank = c.rank(0)
    # ONNX broadcasts the slope to the input only, and aligns the last dimensions.
    shape = [1] * min(rank, 1) if count == 1 or rank < 2 else [count] + [1] * (rank - 2)
    return c.x()("PRelu", weight.reshape(shape))


@function("glu")
def _glu(c: Call) -> Value:
    dim = c.dim()
    half = c.fixed([c.shape[dim]])[0]
    first, second = c.b.many("Split", 2, c.x(), c.b.ints([half, half]), axis=dim)
    return first * second("Sigmoid")


@function("gelu")
def _gelu(c: Call) -> Value:
    x = c.x()
    half = x * 0.5
    if c["approximate"] == "tanh":
        cubic = x * x * x * 0.044715
        inner = ((x + cubic) * math.sqrt(2 / math.pi))("Tanh")
    else:
        inner = (x * math.sqrt(0.5))("Erf")
    return half * (inner + 1)
