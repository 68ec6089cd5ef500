"""Ops that are nodes of ONNX: the table from which the exporter writes the node and the loader runs the op."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ._dtypes import FLOATS, NUMBERS
from ._package import OLDEST_OPSET

# The parameters of each op.
PARAMETERS = {entry["name"]: entry["parameters"] for entry in _core.op_table()}

_ALL = frozenset(NUMBERS)
_F32 = frozenset({_core.float32})


class Pair(NamedTuple):
    """An op and the node that does the same to the same operands.

    The exporter writes the node where the conditions hold and arguments that are not named have their defaults; the
    loader runs the op where attributes that are not named have theirs. Elsewhere, what is registered for the op
    (`direct`, `function`) and for the node (`runs`) takes over.
    """

    op: str
    node: str
    # The argument of the op that each attribute of the node is.
    attributes: Mapping[str, str] = {}
    # Attributes that must have a certain value.
    constants: Mapping[str, Any] = {}
    # ONNX's words, for an attribute that is one of some words, with those of the op.
    words: Mapping[str, str] = {}
    # The dtype to which operands are converted: a dtype or, by name, that of the result, one in which runtimes compute
    # the result, the one to which operands are promoted, and for 16-bit floats f32. None leaves them as they are.
    operands: str | _core.dtype | None = None
    # The dtypes to which operands may be promoted.
    dtypes: frozenset[_core.dtype] = _ALL
    # The first opset with the node.
    since: int = OLDEST_OPSET


_NAMED_ALIKE = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "exp", "log", "reciprocal"),
    *("sigmoid", "sin", "sinh", "sqrt", "tan", "tanh"),
)

PAIRS = (
    *(Pair(op, op.capitalize(), operands="computed") for op in _NAMED_ALIKE),
    *(Pair(op, op.capitalize(), dtypes=FLOATS) for op in ("ceil", "floor", "round")),
    Pair("neg", "Neg", dtypes=_ALL - {_core.uint8}),
    Pair("logical_not", "Not", operands=_core.bool),
    Pair("bitwise_not", "BitwiseNot", since=18),
    Pair("isnan", "IsNaN", operands="widened", dtypes=FLOATS),
    # Of two operands.
    Pair("add", "Add", operands="common"),
    Pair("sub", "Sub", operands="common"),
    Pair("mul", "Mul", operands="common"),
    Pair("fmod", "Mod", operands="common", constants={"fmod": 1}),
    Pair("remainder", "Mod", operands="common", dtypes=_ALL - FLOATS),
    Pair("eq", "Equal", operands="common"),
    Pair("lt", "Less", operands="common"),
    Pair("le", "LessOrEqual", operands="common"),
    Pair("gt", "Greater", operands="common"),
    Pair("ge", "GreaterOrEqual", operands="common"),
    Pair("logical_and", "And", operands=_core.bool),
    Pair("logical_or", "Or", operands=_core.bool),
    Pair("logical_xor", "Xor", operands=_core.bool),
    Pair("bitwise_and", "BitwiseAnd", operands="result", since=18),
    Pair("bitwise_or", "BitwiseOr", operands="result", since=18),
    Pair("bitwise_xor", "BitwiseXor", operands="result", since=18),
    # Activations.
    Pair("relu", "Relu", dtypes=FLOATS - {_core.bfloat16}),
    Pair("leaky_relu", "LeakyRelu", {"alpha": "negative_slope"}),
    Pair("elu", "Elu", {"alpha": "alpha"}),
    Pair("celu", "Celu", {"alpha": "alpha"}, dtypes=_F32),
    Pair("gelu", "Gelu", {"approximate": "approximate"}, words={"none": "none", "tanh": "tanh"}, since=20),
    Pair("hardsigmoid", "HardSigmoid", constants={"alpha": float(np.float32(1 / 6)), "beta": 0.5}, dtypes=_F32),
    Pair("hardswish", "HardSwish", dtypes=_F32, since=14),
    Pair("mish", "Mish", since=18),
    Pair("selu", "Selu", dtypes=_ALL - {_core.float64}),
    Pair("softplus", "Softplus"),
    Pair("softsign", "Softsign"),
    Pair("softmax", "Softmax", {"axis": "dim"}, operands="result"),
    Pair("log_softmax", "LogSoftmax", {"axis": "dim"}, operands="result"),
)

PAIRS_OF = {node: [pair for pair in PAIRS if pair.node == node] for node in {pair.node for pair in PAIRS}}


def pair_of(node: str, attributes: Mapping[str, Any], changed: set[str]) -> Pair | None:
    """The pair whose op does what a node does, if there is one. `changed` attributes do not have their defaults."""
    for pair in PAIRS_OF.get(node, ()):
        is_stated = changed <= {*pair.attributes, *pair.constants}
        if is_stated and all(attributes.get(name) == value for name, value in pair.constants.items()):
            return pair
    return None


# The op for each reduction of ONNX's scatters.
SCATTERS = {"none": "scatter_set", "add": "scatter_add", "mul": "scatter_mul", "max": "scatter_amax"}
SCATTERS["min"] = "scatter_amin"
