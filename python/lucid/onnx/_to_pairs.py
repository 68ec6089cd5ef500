"""Export of the ops that are in the table of pairs."""

from __future__ import annotations

from typing import Any

from .. import _core
from ._builder import Value
from ._call import FUNCTIONS, Call, Emit, direct
from ._dtypes import computing, widened
from ._pairs import PAIRS, PARAMETERS, Pair


def _operand_dtype(c: Call, pair: Pair) -> _core.dtype:
    match pair.operands:
        case "result":
            return c.dtype
        case "computed":
            return c.computing
        case "common":
            return computing(c.common())
        case "widened":
            return widened(c.value(0).dtype)
        case _core.dtype() as dtype:
            return dtype
    return c.value(0).dtype


def _emitter(pair: Pair) -> Emit:
    parameters = [each for each in PARAMETERS[pair.op] if each["kind"] not in ("tensor", "tensors", "dtype")]
    kinds = {each["name"]: each["kind"] for each in parameters}
    fixed = {each["name"]: each["default"] for each in parameters if each["name"] not in pair.attributes.values()}
    floats = [name for name in pair.attributes.values() if kinds[name] == "float"]
    words = {ours: word for word, ours in pair.words.items()}

    def emit(c: Call) -> Value | None:
        if c.op not in FUNCTIONS:
            c.since(pair.since)
        is_same = all(c[name] == default for name, default in fixed.items()) and c.holds(*(c[name] for name in floats))
        if not is_same or c.b.opset < pair.since or c.common() not in pair.dtypes:
            return None
        attributes: dict[str, Any] = dict(pair.constants)
        for attribute, name in pair.attributes.items():
            if kinds[name] == "axis" and c.rank() == 0:
                return None
            attributes[attribute] = c.dim(name) if kinds[name] == "axis" else words.get(c[name], c[name])
        return c.b(pair.node, *c.xs(len(c.operands), _operand_dtype(c, pair)), **attributes)

    return emit


def register_pairs() -> None:
    """Registers the pairs after what is registered by hand, which so comes first."""
    for pair in PAIRS:
        direct(pair.op)(_emitter(pair))
