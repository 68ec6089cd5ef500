"""Sizes that vary: expressions of the sizes of arguments, as the text of a graph writes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, NamedTuple

_SYMBOL = re.compile(r"\bs\d+\b")


class Size:
    """A size, or another integer, that is computed from sizes of arguments."""

    def __init__(self, text: str, value: int) -> None:
        self.text = text
        self.value = value

    @property
    def tree(self) -> ast.expr:
        return ast.parse(self.text, mode="eval").body

    @property
    def symbol(self) -> str | None:
        """The symbol that it is, if it is not computed from others."""
        return self.text if re.fullmatch(r"s\d+", self.text) else None

    def __int__(self) -> int:
        raise NotImplementedError("a size that varies")

    def __float__(self) -> float:
        raise NotImplementedError("a size that varies")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


def evaluated(tree: ast.expr, leaf: Callable[[Any], Any], apply: Callable[..., Any]) -> Any:
    """What an expression of sizes is: `leaf` makes it of numbers and names, `apply` of an operator and its operands."""
    match tree:
        case ast.Constant(value=int(value)):
            return leaf(value)
        case ast.Name(id=name):
            return leaf(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return apply("Neg", evaluated(operand, leaf, apply))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Mod() as op, right=right):
            operator = type(op).__name__.replace("Mult", "Mul")
            return apply(operator, evaluated(left, leaf, apply), evaluated(right, leaf, apply))
    raise NotImplementedError(f"a size that is computed by {ast.unparse(tree)}")


class Line(NamedTuple):
    """What a line of a graph's text says about sizes. Each is None or missing where it says nothing."""

    results: list[list[str]]
    operands: list[str]
    attributes: dict[str, Any]


def _parts(text: str) -> list[str]:
    """The parts between the commas that are outside brackets and strings."""
    parts, depth, start, quoted = [], 0, 0, False
    for position, character in enumerate(text):
        if character == '"' and text[position - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _dims(declared: str) -> list[str]:
    return _parts(declared[declared.index("[") + 1 : declared.rindex("]")])


def _closing(text: str, start: int) -> int:
    """The position of the bracket that closes the one at `start`."""
    depth = 0
    for position in range(start, len(text)):
        depth += text[position] in "([{"
        depth -= text[position] in ")]}"
        if depth == 0:
            return position
    raise ValueError("lucid.onnx: the text of a graph has an open bracket")


def arguments_of(text: str) -> dict[int, list[str]]:
    """The sizes of each argument of a graph, from its text."""
    start = text.index("(")
    found = {}
    for declared in _parts(text[start + 1 : _closing(text, start)]):
        number, _, kind = declared.partition(":")
        found[int(number.strip()[1:])] = _dims(kind)
    return found


def lines_of(text: str) -> list[Line]:
    """The lines of a graph's text that apply an op, in order."""
    found = []
    for line in text.splitlines()[1:]:
        declared, equals, applied = line.strip().partition(" = ")
        if not equals or not declared.startswith("%"):
            continue
        start = applied.index("(")
        end = _closing(applied, start)
        attributes: dict[str, Any] = {}
        rest = applied[end + 1 :].lstrip()
        if rest.startswith("{"):
            for part in _parts(rest[1 : _closing(rest, 0)]):
                name, _, value = part.partition("=")
                if _SYMBOL.search(value) and not value.startswith('"'):
                    attributes[name] = _parts(value[1:-1]) if value.startswith("[") else value
        results = [_dims(part.partition(":")[2]) for part in _parts(declared)]
        found.append(Line(results, _parts(applied[start + 1 : end]), attributes))
    return found


def size_of(text: str, value: int) -> Any:
    """A size: an int, or a Size if its text has symbols."""
    return Size(text, value) if _SYMBOL.search(text) else value


def values_of(sizes: Any) -> list[int]:
    """The sizes that the recorded call had."""
    return [size.value if isinstance(size, Size) else size for size in sizes]
