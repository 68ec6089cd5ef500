"""Elementwise nodes of loaded models."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import _core, _effects
from ._dtypes import FLOATS
from ._node import Node, array, axis_of, created, operand, ops, option, runs, tensor, wanted_dtype

_effects.pure_module()

_UNARY = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "BitwiseNot": "bitwise_not",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "HardSwish": "hardswish",
    "IsNaN": "isnan",
    "Log": "log",
    "Mish": "mish",
    "Neg": "neg",
    "Not": "logical_not",
    "Reciprocal": "reciprocal",
    "Relu": "relu",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sin": "sin",
    "Sinh": "sinh",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
}


@runs(*_UNARY)
def _unary(node: Node, x: Any) -> Any:
    return ops[_UNARY[node.op]](tensor(x))


@runs("Sign")
def _sign(node: Node, x: Any) -> Any:
    x = tensor(x)
    found = ops["sign"](x)
    # Lucid's sign of a NaN is 0.
    return ops["where"](ops["isnan"](x), x, found) if x.dtype in FLOATS else found


_BINARY = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "And": "logical_and",
    "Or": "logical_or",
    "Xor": "logical_xor",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Equal": "eq",
    "Less": "lt",
    "LessOrEqual": "le",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
}


def _pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands, of which one may become a number."""
    if isinstance(x, _core.Tensor):
        return x, operand(y)
    if isinstance(y, _core.Tensor):
        return operand(x), y
    return tensor(x), tensor(y)


@runs(*_BINARY)
def _binary(node: Node, x: Any, y: Any) -> Any:
    return ops[_BINARY[node.op]](*_pair(x, y))


@runs("Div")
def _div(node: Node, x: Any, y: Any) -> Any:
    dtype = (x if isinstance(x, _core.Tensor) else tensor(y)).dtype
    x, y = _pair(x, y)
    if dtype in FLOATS:
        return ops["div"](x, y)
    # Integers are divided towards zero.
    quotient = ops["floor_divide"](x, y)
    exact = ops["eq"](ops["mul"](quotient, y), x)
    below = ops["lt"](quotient, 0)
    return ops["add"](quotient, ops["logical_and"](ops["logical_not"](exact), below).to(quotient.dtype))


@runs("Mod")
def _mod(node: Node, x: Any, y: Any) -> Any:
    return ops["fmod" if node.get("fmod", 0) else "remainder"](*_pair(x, y))


@runs("Pow")
def _pow(node: Node, x: Any, y: Any) -> Any:
    if not isinstance(x, _core.Tensor):
        x, y = tensor(x), tensor(y)
    base = x.dtype
    power = operand(y)
    if isinstance(power, _core.Tensor) and power.dtype is not base:
        # The result has the dtype of the base.
        if base in FLOATS:
            power = power.to(base)
        else:
            return ops["pow"](x.to(_core.float64), power.to(_core.float64)).to(base)
    elif isinstance(power, float) and base not in FLOATS:
        return ops["pow"](x.to(_core.float64), power).to(base)
    return ops["pow"](x, power)


@runs("Sum", "Mean")
def _sum(node: Node, *parts: Any) -> Any:
    total = functools.reduce(ops["add"], [tensor(part) for part in parts])
    return ops["div"](total, len(parts)) if node.op == "Mean" else total


@runs("Min", "Max")
def _extreme(node: Node, *parts: Any) -> Any:
    return functools.reduce(ops["minimum" if node.op == "Min" else "maximum"], [tensor(part) for part in parts])


@runs("IsInf")
def _isinf(node: Node, x: Any) -> Any:
    x = tensor(x)
    positive, negative = node.get("detect_positive", 1), node.get("detect_negative", 1)
    found = ops["isinf"](x)
    if positive and negative:
        return found
    if not positive and not negative:
        return ops["zeros_like"](found)
    return ops["logical_and"](found, ops["gt" if positive else "lt"](x, 0))


@runs("BitShift")
def _shift(node: Node, x: Any, y: Any) -> Any:
    direction = option(node, "direction", "", ("LEFT", "RIGHT"))
    return ops[f"bitwise_{direction.lower()}_shift"](tensor(x), tensor(y))


@runs("Where")
def _where(node: Node, condition: Any, x: Any, y: Any) -> Any:
    return ops["where"](tensor(condition), *_pair(x, y))


@runs("Clip")
def _clip(node: Node, x: Any, low: Any = None, high: Any = None) -> Any:
    x = tensor(x)
    if low is None and high is None:
        return x
    return ops["clamp"](x, None if low is None else operand(low), None if high is None else operand(high))


@runs("Cast")
def _cast(node: Node, x: Any) -> Any:
    return tensor(x).to(wanted_dtype(node, node.get("to", 0)))


@runs("CastLike")
def _cast_like(node: Node, x: Any, like: Any) -> Any:
    return tensor(x).to(tensor(like).dtype)


@runs("Identity")
def _identity(node: Node, x: Any) -> Any:
    return x


@runs("Dropout")
def _dropout(node: Node, x: Any, ratio: Any = None, training: Any = None) -> Any:
    if training is not None and bool(array(node, training, "training_mode").item()):
        share = 0.5 if ratio is None else float(array(node, ratio, "ratio").item())
        if share != 0:
            node.unsupported("dropout in training mode")
    x = tensor(x)
    return x if node.outputs == 1 else (x, ops["ones_like"](x, dtype=_core.bool))


# Activations.


@runs("LeakyRelu")
def _leaky_relu(node: Node, x: Any) -> Any:
    return ops["leaky_relu"](tensor(x), node.get("alpha", float(np.float32(0.01))))


@runs("Elu", "Celu")
def _elu(node: Node, x: Any) -> Any:
    return ops[node.op.lower()](tensor(x), node.get("alpha", 1.0))


_SELU = (float(np.float32(1.67326319217681884765625)), float(np.float32(1.05070102214813232421875)))


@runs("Selu")
def _selu(node: Node, x: Any) -> Any:
    alpha, gamma = node.get("alpha", _SELU[0]), node.get("gamma", _SELU[1])
    if (alpha, gamma) == _SELU:
        return ops["selu"](tensor(x))
    return ops["mul"](ops["elu"](tensor(x), alpha), gamma)


@runs("HardSigmoid")
def _hardsigmoid(node: Node, x: Any) -> Any:
    alpha, beta = node.get("alpha", float(np.float32(0.2))), node.get("beta", 0.5)
    if alpha == float(np.float32(1 / 6)) and beta == 0.5:
        return ops["hardsigmoid"](tensor(x))
    return ops["clamp"](ops["add"](ops["mul"](tensor(x), alpha), beta), 0, 1)


@runs("PRelu")
def _prelu(node: Node, x: Any, slope: Any) -> Any:
    x, slope = tensor(x), tensor(slope)
    if x.dtype in FLOATS:
        if slope.numel() == 1:
            return ops["prelu"](x, slope.reshape(1))
        if x.ndim >= 2 and slope.shape == (x.shape[1],) + (1,) * (x.ndim - 2):
            return ops["prelu"](x, slope.reshape(-1))
    return ops["where"](ops["lt"](x, 0), ops["mul"](x, slope), x)


@runs("Gelu")
def _gelu(node: Node, x: Any) -> Any:
    return ops["gelu"](tensor(x), approximate=option(node, "approximate", "none", ("none", "tanh")))


@runs("Shrink")
def _shrink(node: Node, x: Any) -> Any:
    x = tensor(x)
    bound, bias = node.get("lambd", 0.5), node.get("bias", 0.0)
    if x.dtype in FLOATS and bound >= 0 and bias in (0, bound):
        return ops["softshrink" if bias else "hardshrink"](x, bound)
    dtype = x.dtype
    low = ops["where"](ops["lt"](x, -bound), ops["add"](x, bias), 0)
    return ops["where"](ops["gt"](x, bound), ops["sub"](x, bias), low).to(dtype)


@runs("ThresholdedRelu")
def _thresholded_relu(node: Node, x: Any) -> Any:
    return ops["threshold"](tensor(x), node.get("alpha", 1.0), 0.0)


@runs("Swish")
def _swish(node: Node, x: Any) -> Any:
    x = tensor(x)
    alpha = node.get("alpha", 1.0)
    return ops["silu"](x) if alpha == 1 else ops["mul"](x, ops["sigmoid"](ops["mul"](x, alpha)))


@runs("Hardmax")
def _hardmax(node: Node, x: Any) -> Any:
    x = tensor(x)
    axis = axis_of(node, node.get("axis", -1), x.ndim)
    best = ops["argmax"](x, axis, True)
    places = created("arange", x.shape[axis]).reshape([-1] + [1] * (x.ndim - 1 - axis))
    return ops["eq"](places, best).to(x.dtype)
