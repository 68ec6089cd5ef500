"""Nodes of loaded models that stand for one op of Lucid."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .. import _core, _effects
from ._node import Node, ops, tensor, wanted_dtype
from ._package import DOMAIN
from ._pairs import PARAMETERS

_effects.pure_module()


def lucid_op(name: str, exported: frozenset[str]) -> str | None:
    """The op that a function of our domain stands for, or None."""
    match = re.fullmatch(r"([a-z0-9_]*?)(_\d+)?", name)
    if match is None:
        return None
    return next((op for op in (name, match[1]) if op in exported), None)


def run_lucid(node: Node, operands: list[Any]) -> Any:
    """Runs an op with the operands and attributes of a node."""
    name = node.op.removeprefix(f"{DOMAIN}.")
    parameters = PARAMETERS[name]
    singles = sum(parameter["kind"] == "tensor" for parameter in parameters)
    # Absent operands at the end are left out.
    given = operands + [None] * (singles - len(operands))
    listed = len(given) - singles
    queue = iter(given)
    arguments: dict[str, Any] = {}
    for parameter in parameters:
        key, kind = parameter["name"], parameter["kind"]
        if kind == "tensor":
            value = next(queue)
            number = node.get(key)
            arguments[key] = tensor(value) if number is None else number.item()
        elif kind == "tensors":
            arguments[key] = [tensor(next(queue)) for _ in range(listed)]
        elif key in node.attributes:
            arguments[key] = _attribute(node, key, kind)
    made = ops[name](**arguments)
    return made if isinstance(made, _core.Tensor) else tuple(made)


def _attribute(node: Node, key: str, kind: str) -> Any:
    value = node.get(key)
    match kind:
        case "float" if isinstance(value, np.ndarray) and value.ndim == 0:
            return float(value)
        case "ints" | "axes" if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.int64:
            return [int(each) for each in value]
        case "int" | "axis" if isinstance(value, int):
            return value
        case "bool" if isinstance(value, int):
            return bool(value)
        case "str" if isinstance(value, str):
            return value
        case "dtype" if isinstance(value, int):
            return wanted_dtype(node, value)
    node.fail(f"attribute {key!r} is not of the kind {kind}")


def check_lucid(node: Node, count: int) -> None:
    """Checks a node when the model is loaded."""
    name = node.op.removeprefix(f"{DOMAIN}.")
    parameters = PARAMETERS[name]
    singles = [parameter["name"] for parameter in parameters if parameter["kind"] == "tensor"]
    takes_list = any(parameter["kind"] == "tensors" for parameter in parameters)
    if count > len(singles) and not takes_list:
        node.fail(f"{name} takes {len(singles)} operands, got {count}")
    for parameter in parameters:
        key, kind = parameter["name"], parameter["kind"]
        if key not in node.attributes:
            continue
        if kind == "tensor":
            number = node.get(key)
            if not isinstance(number, np.ndarray) or number.ndim != 0:
                node.fail(f"operand {key!r} is not a number")
        elif kind != "tensors":
            _attribute(node, key, kind)
