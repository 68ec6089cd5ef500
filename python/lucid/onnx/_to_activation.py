"""Export of activation functions."""

from __future__ import annotations

import math

from .. import _core
from ._call import Call, direct, function
from ._dtypes import is_exact


def in_f32(c: Call, *names: str) -> bool:
    """Whether attributes of ONNX, which are f32, hold the attributes as exactly as the op uses them."""
    return c.dtype is not _core.float64 or all(is_exact(c[name], _core.float32) for name in names)


@direct("relu")
def _relu(c: Call) -> str | None:
    return c.b("Relu", c.x(0)) if c.dtype in (_core.float16, _core.float32, _core.float64) else None


@function("relu")
def _relu_of_others(c: Call) -> str:
    dtype = _core.float32 if c.dtype is _core.bfloat16 else _core.int64
    return c.b.cast(c.b("Max", c.x(0, dtype), c.scalar(0, dtype)), c.dtype)


@function("relu6")
def _relu6(c: Call) -> str:
    return c.b("Clip", c.x(0), c.scalar(0), c.scalar(6))


@function("hardtanh")
def _hardtanh(c: Call) -> str:
    return c.b("Clip", c.x(0), c.scalar(c["min_val"]), c.scalar(c["max_val"]))


@function("threshold")
def _threshold(c: Call) -> str:
    return c.b("Where", c.b("Greater", c.x(0), c.scalar(c["threshold"])), c.x(0), c.scalar(c["value"]))


@direct("leaky_relu")
def _leaky_relu(c: Call) -> str | None:
    return c.b("LeakyRelu", c.x(0), alpha=c["negative_slope"]) if in_f32(c, "negative_slope") else None


@function("leaky_relu")
def _leaky_relu_of_f64(c: Call) -> str:
    x = c.x(0)
    return c.b("Where", c.b("Less", x, c.scalar(0)), c.b("Mul", x, c.scalar(c["negative_slope"])), x)


@direct("elu")
def _elu(c: Call) -> str | None:
    return c.b("Elu", c.x(0), alpha=c["alpha"]) if in_f32(c, "alpha") else None


@direct("celu")
def _celu(c: Call) -> str | None:
    return c.b("Celu", c.x(0), alpha=c["alpha"]) if c.dtype is _core.float32 else None


@function("elu", "celu")
def _exponential(c: Call) -> str:
    x = c.x(0)
    scaled = c.b("Div", x, c.scalar(c["alpha"])) if c.op == "celu" else x
    below = c.b("Mul", c.b("Sub", c.b("Exp", scaled), c.scalar(1)), c.scalar(c["alpha"]))
    return c.b("Where", c.b("Greater", x, c.scalar(0)), x, below)


@direct("selu")
def _selu(c: Call) -> str | None:
    return c.b("Selu", c.x(0)) if c.dtype is not _core.float64 else None


@function("selu")
def _selu_of_f64(c: Call) -> str:
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    x = c.x(0)
    below = c.b("Mul", c.b("Sub", c.b("Exp", x), c.scalar(1)), c.scalar(alpha))
    return c.b("Mul", c.b("Where", c.b("Greater", x, c.scalar(0)), x, below), c.scalar(scale))


@direct("softplus")
def _softplus(c: Call) -> str | None:
    return c.b("Softplus", c.x(0)) if c["beta"] == 1 and c["threshold"] == 20 else None


@function("softplus")
def _softplus_scaled(c: Call) -> str:
    x = c.x(0)
    scaled = c.b("Mul", x, c.scalar(c["beta"]))
    soft = c.b("Div", c.b("Softplus", scaled), c.scalar(c["beta"]))
    return c.b("Where", c.b("Greater", scaled, c.scalar(c["threshold"])), x, soft)


@function("logsigmoid")
def _logsigmoid(c: Call) -> str:
    return c.b("Neg", c.b("Softplus", c.b("Neg", c.x(0))))


@direct("softsign")
def _softsign(c: Call) -> str:
    return c.b("Softsign", c.x(0))


@direct("hardshrink", "softshrink")
def _shrink(c: Call) -> str | None:
    if not in_f32(c, "lambd"):
        return None
    return c.b("Shrink", c.x(0), lambd=c["lambd"], bias=c["lambd"] if c.op == "softshrink" else 0.0)


@function("hardshrink", "softshrink")
def _shrink_of_f64(c: Call) -> str:
    x = c.x(0)
    bias = c.scalar(c["lambd"] if c.op == "softshrink" else 0.0)
    above, below = c.b("Greater", x, c.scalar(c["lambd"])), c.b("Less", x, c.scalar(-c["lambd"]))
    low = c.b("Where", below, c.b("Add", x, bias), c.scalar(0))
    return c.b("Where", above, c.b("Sub", x, bias), low)


@direct("hardsigmoid")
def _hardsigmoid(c: Call) -> str | None:
    return c.b("HardSigmoid", c.x(0), alpha=1 / 6, beta=0.5) if c.dtype is _core.float32 else None


@function("hardsigmoid")
def _hardsigmoid_of_others(c: Call) -> str:
    return _clipped_line(c)


def _clipped_line(c: Call) -> str:
    line = c.b("Add", c.b("Div", c.x(0), c.scalar(6)), c.scalar(0.5))
    return c.b("Clip", line, c.scalar(0), c.scalar(1))


@direct("hardswish")
def _hardswish(c: Call) -> str | None:
    return c.b("HardSwish", c.x(0)) if c.b.opset >= 14 and c.dtype is _core.float32 else None


@function("hardswish")
def _hardswish_of_others(c: Call) -> str:
    return c.b("Mul", c.x(0), _clipped_line(c))


@direct("prelu")
def _prelu(c: Call) -> str:
    """The slopes of channels, which are dimension 1."""
    weight = c.value(1)
    count = c.fixed(weight.shape)[0] if weight.shape else 1
    rank = c.rank(0)
    # ONNX broadcasts the slope to the input only, and aligns the last dimensions.
    shape = [1] * min(rank, 1) if count == 1 or rank < 2 else [count] + [1] * (rank - 2)
    return c.b("PRelu", c.x(0), c.b.reshape(weight.name, shape))


@function("rrelu")
def _rrelu(c: Call) -> str:
    x = c.x(0)
    slope = c.scalar((c["lower"] + c["upper"]) / 2)
    return c.b("Where", c.b("Less", x, c.scalar(0)), c.b("Mul", x, slope), x)


@function("glu")
def _glu(c: Call) -> str:
    dim = c.dim()
    half = c.fixed([c.shape[dim]])[0]
    first, second = c.b.many("Split", 2, c.x(0), c.b.ints([half, half]), axis=dim)
    return c.b("Mul", first, c.b("Sigmoid", second))


@direct("gelu")
def _gelu(c: Call) -> str | None:
    return c.b("Gelu", c.x(0), approximate=c["approximate"]) if c.b.opset >= 20 else None


@function("gelu")
def _gelu_of_parts(c: Call) -> str:
    x = c.x(0)
    half = c.b("Mul", x, c.scalar(0.5))
    if c["approximate"] == "tanh":
        cubic = c.b("Mul", c.b("Mul", c.b("Mul", x, x), x), c.scalar(0.044715))
        inner = c.b("Tanh", c.b("Mul", c.b("Add", x, cubic), c.scalar(math.sqrt(2 / math.pi))))
    else:
        inner = c.b("Erf", c.b("Mul", x, c.scalar(math.sqrt(0.5))))
    return c.b("Mul", half, c.b("Add", inner, c.scalar(1)))


@function("silu")
def _silu(c: Call) -> str:
    return c.b("Mul", c.x(0), c.b("Sigmoid", c.x(0)))


@direct("mish")
def _mish(c: Call) -> str | None:
    return c.b("Mish", c.x(0)) if c.b.opset >= 18 else None


@function("mish")
def _mish_of_parts(c: Call) -> str:
    return c.b("Mul", c.x(0), c.b("Tanh", c.b("Softplus", c.x(0))))


@function("tanhshrink")
def _tanhshrink(c: Call) -> str:
    return c.b("Sub", c.x(0), c.b("Tanh", c.x(0)))
