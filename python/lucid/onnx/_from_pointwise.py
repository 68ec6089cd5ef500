"""Elementwise nodes of loaded models."""

from __future__ import annotations

import functools
from typing import Any

from .. import _core, _effects
from ._dtypes import FLOATS
from ._from_pairs import numbers
from ._node import Node, array, operand, ops, option, ranged, runs, tensor, wanted_dtype

_effects.pure_module()


@runs("Sign")
def _sign(node: Node, x: Any) -> Any:
    found = ops["sign"](x)
    # Lucid's sign of a NaN is 0.
    return ops["where"](ops["isnan"](x), x, found) if x.dtype in FLOATS else found


@runs("Div", known=(0, 1))
def _div(node: Node, x: Any, y: Any) -> Any:
    dtype = (x if isinstance(x, _core.Tensor) else tensor(y)).dtype
    x, y = numbers(x, y)
    if dtype in FLOATS:
        return ops["div"](x, y)
    # Integers are divided towards zero.
    quotient = ops["floor_divide"](x, y)
    exact = ops["eq"](ops["mul"](quotient, y), x)
    below = ops["lt"](quotient, 0)
    return ops["add"](quotient, ops["logical_and"](ops["logical_not"](exact), below).to(quotient.dtype))


@runs("Pow", known=(0, 1))
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


_REPEATED = {"Sum": "add", "Mean": "add", "Min": "minimum", "Max": "maximum"}


@runs(*_REPEATED)
def _repeated(node: Node, *parts: Any) -> Any:
    found = functools.reduce(ops[_REPEATED[node.op]], parts)
    return ops["div"](found, len(parts)) if node.op == "Mean" else found


@runs("IsInf")
def _isinf(node: Node, x: Any) -> Any:
    positive, negative = node.get("detect_positive"), node.get("detect_negative")
    found = ops["isinf"](x)
    if positive and negative:
        return found
    if not positive and not negative:
        return ops["zeros_like"](found)
    return ops["logical_and"](found, ops["gt" if positive else "lt"](x, 0))


@runs("BitShift")
def _shift(node: Node, x: Any, y: Any) -> Any:
    direction = option(node, "direction", ("LEFT", "RIGHT"))
    return ops[f"bitwise_{direction.lower()}_shift"](x, y)


@runs("Where", known=(1, 2))
def _where(node: Node, condition: Any, x: Any, y: Any) -> Any:
    return ops["where"](condition, *numbers(x, y))


@runs("Clip", known=(1, 2))
def _clip(node: Node, x: Any, low: Any = None, high: Any = None) -> Any:
    if low is None and high is None:
        return x
    return ops["clamp"](x, operand(low), operand(high))


@runs("Cast", "CastLike")
def _cast(node: Node, x: Any, like: Any = None) -> Any:
    return x.to(wanted_dtype(node, node.get("to")) if like is None else like.dtype)


@runs("Identity", known=(0,))
def _identity(node: Node, x: Any) -> Any:
    return x


@runs("Dropout", known=(1, 2))
def _dropout(node: Node, x: Any, ratio: Any = None, training: Any = None) -> Any:
    if training is not None and bool(array(node, training, "training_mode").item()):
        share = 0.5 if ratio is None else float(array(node, ratio, "ratio").item())
        if share != 0:
            node.unsupported("dropout in training mode")
    return x if node.outputs == 1 else (x, ops["ones_like"](x, dtype=_core.bool))


# Activations whose op does only some of what the node does.


@runs("Selu")
def _selu(node: Node, x: Any) -> Any:
    return ops["mul"](ops["elu"](x, node.get("alpha")), node.get("gamma"))


@runs("HardSigmoid")
def _hardsigmoid(node: Node, x: Any) -> Any:
    return ops["clamp"](ops["add"](ops["mul"](x, node.get("alpha")), node.get("beta")), 0, 1)


@runs("PRelu")
def _prelu(node: Node, x: Any, slope: Any) -> Any:
    if x.dtype in FLOATS:
        if slope.numel() == 1:
            return ops["prelu"](x, slope.reshape(1))
        if x.ndim >= 2 and slope.shape == (x.shape[1],) + (1,) * (x.ndim - 2):
            return ops["prelu"](x, slope.reshape(-1))
    return ops["where"](ops["lt"](x, 0), ops["mul"](x, slope), x)


@runs("Shrink")
def _shrink(node: Node, x: Any) -> Any:
    bound, bias = node.get("lambd"), node.get("bias")
    if x.dtype in FLOATS and bound >= 0 and bias in (0, bound):
        return ops["softshrink" if bias else "hardshrink"](x, bound)
    low = ops["where"](ops["lt"](x, -bound), ops["add"](x, bias), 0)
    return ops["where"](ops["gt"](x, bound), ops["sub"](x, bias), low).to(x.dtype)


@runs("ThresholdedRelu")
def _thresholded_relu(node: Node, x: Any) -> Any:
    return ops["threshold"](x, node.get("alpha"), 0.0)


@runs("Swish")
def _swish(node: Node, x: Any) -> Any:
    alpha = node.get("alpha")
    return ops["silu"](x) if alpha == 1 else ops["mul"](x, ops["sigmoid"](ops["mul"](x, alpha)))


@runs("Hardmax")
def _hardmax(node: Node, x: Any) -> Any:
    axis = node.axis(x.ndim)
    return ops["eq"](ranged(x.shape[axis], x.ndim - axis), ops["argmax"](x, axis, True)).to(x.dtype)
