"""Nodes of loaded models that are in the table of pairs."""

from __future__ import annotations

from typing import Any

from .. import _core, _effects
from ._node import Node, axis_of, operand, ops, option, tensor
from ._pairs import PAIRS, PARAMETERS, Pair

_effects.pure_module()

_KINDS = {(pair.op, each["name"]): each["kind"] for pair in PAIRS for each in PARAMETERS[pair.op]}


def numbers(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands, of which one may become a number."""
    if isinstance(x, _core.Tensor):
        return x, operand(y)
    if isinstance(y, _core.Tensor):
        return operand(x), y
    return tensor(x), tensor(y)


def run_pair(pair: Pair, node: Node, operands: list[Any]) -> Any:
    """Runs the op of a pair. Ops of two operands are elementwise, so they take numbers too."""
    given = numbers(*operands) if len(operands) == 2 else tuple(map(tensor, operands))
    arguments: dict[str, Any] = {}
    for attribute, name in pair.attributes.items():
        match _KINDS[pair.op, name]:
            case "axis":
                arguments[name] = axis_of(node, node.get(attribute), given[0].ndim)
            case "bool":
                arguments[name] = bool(node.get(attribute))
            case "str":
                arguments[name] = pair.words[option(node, attribute, pair.words)]
            case _:
                arguments[name] = node.get(attribute)
    return ops[pair.op](*given, **arguments)
