"""Conditions on sizes, such as "s0-128 < 0", and for which sizes they hold."""

from __future__ import annotations

import ast
import functools
import itertools
import math
import operator
import re
from collections.abc import Mapping
from typing import Any

from ._sizes import evaluated

# Recordings are for sizes from this one on.
SMALLEST = 2
# How many sizes for which a condition does not hold are listed at most.
MAX_EXCEPTIONS = 64
_MAX_RESIDUES = 4096
# No tensor has more elements along a dimension.
_LARGEST = 2**31 - 1

_RELATIONS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">=": operator.ge}
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<"}

# Coefficients by products of variables.
_Polynomial = dict[tuple[str, ...], int]


class _Unknown(Exception):
    """A number is no polynomial."""


class Condition:
    """A number, computed from sizes, compared with 0."""

    def __init__(self, text: str, names: Mapping[str, str]) -> None:
        """`names` has the names of the symbols. Sizes with one name are equal."""
        self.text = re.sub(r"\bs\d+\b", lambda symbol: names[symbol[0]], text)
        number, self.relation, _ = text.rsplit(" ", 2)
        self.number = re.sub(r"\bs\d+\b", lambda symbol: f"v{list(names.values()).index(names[symbol[0]])}", number)
        self._tree = ast.parse(self.number, mode="eval").body
        used = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}
        self._names = {f"v{position}": name for position, name in enumerate(names.values()) if f"v{position}" in used}

    @property
    def names(self) -> list[str]:
        """The sizes that it depends on."""
        return list(self._names.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and (other.number, other.relation) == (self.number, self.relation)

    def __hash__(self) -> int:
        return hash((self.number, self.relation))

    def negates(self, other: Condition) -> bool:
        return self.number == other.number and self.relation == _NEGATED[other.relation]

    def holds(self, sizes: Mapping[str, int]) -> bool:
        values = {variable: sizes[name] for variable, name in self._names.items()}
        try:
            return bool(_RELATIONS[self.relation](_value(self._tree, values), 0))
        except ZeroDivisionError:
            return False

    def exceptions(self) -> list[int] | None:
        """The sizes for which it does not hold. None if there are too many, or if that is not known."""
        if self._always(SMALLEST):
            return []
        if len(self._names) != 1:
            return None
        [name] = self._names.values()
        tried = range(SMALLEST, 2 * MAX_EXCEPTIONS + 2 * max(self._periods.values()))
        found = [size for size in tried if not self.holds({name: size})]
        return found if len(found) <= MAX_EXCEPTIONS and self._always(tried.stop) else None

    @functools.cached_property
    def _periods(self) -> dict[str, int]:
        """For each variable a multiple of what it is divided by; 0 if there is none."""
        periods = dict.fromkeys(self._names, 1)
        nodes = {ast.unparse(node): node for node in ast.walk(self._tree) if isinstance(node, ast.BinOp)}
        for node in nodes.values():
            if isinstance(node.op, ast.Div | ast.Mod):
                divisor = node.right.value if isinstance(node.right, ast.Constant) else 0
                for name in {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}:
                    periods[name] *= divisor if isinstance(divisor, int) else 0
        return periods

    def _always(self, least: int) -> bool:
        """Whether it is known to hold if all sizes are at least `least`."""
        if not 0 < math.prod(self._periods.values()) <= _MAX_RESIDUES:
            return False
        # A size is its remainder plus a multiple of the period, so quotients and remainders are polynomials.
        for remainders in itertools.product(*(range(least, least + period) for period in self._periods.values())):
            variables: dict[str, _Polynomial] = {
                name: {(): remainder, (name,): period}
                for (name, period), remainder in zip(self._periods.items(), remainders)
            }
            try:
                number = _polynomial(self._tree, variables)
            except _Unknown:
                return False
            if not _holds_always(number, self.relation):
                return False
        return True


def _holds_always(number: _Polynomial, relation: str) -> bool:
    """Whether a relation to 0 is known to hold for all variables from 0 to the largest size."""
    low, high = 0, 0
    for key, coefficient in number.items():
        most: int = coefficient * _LARGEST ** len(key)
        low += most if most < 0 or not key else 0
        high += most if most > 0 or not key else 0
    match relation:
        case "==":
            return low == high == 0
        case "!=":
            return low > 0 or high < 0
        case "<":
            return high < 0
    return low >= 0


def _quotient(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _applied(op: str, a: int, b: int = 0) -> int:
    """As C++ computes: quotients are rounded toward zero."""
    match op:
        case "Neg":
            return -a
        case "Div":
            return _quotient(a, b)
        case "Mod":
            return a - _quotient(a, b) * b
    return {"Add": a + b, "Sub": a - b, "Mul": a * b}[op]


def _value(tree: ast.expr, values: Mapping[str, int]) -> int:
    return int(evaluated(tree, lambda leaf: values.get(leaf, leaf), _applied))


def _sum(a: _Polynomial, b: _Polynomial, factor: int = 1) -> _Polynomial:
    return {key: a.get(key, 0) + factor * b.get(key, 0) for key in {**a, **b}}


def _polynomial(tree: ast.expr, variables: Mapping[str, _Polynomial]) -> _Polynomial:
    def apply(op: str, a: _Polynomial, b: _Polynomial | None = None) -> _Polynomial:
        match op:
            case "Neg":
                return _sum({}, a, -1)
            case "Mul":
                return _product(a, b or {})
            case "Div" | "Mod":
                return _divided(a, (b or {})[()], op == "Div")
        return _sum(a, b or {}, 1 if op == "Add" else -1)

    found: _Polynomial = evaluated(tree, lambda leaf: variables.get(leaf, {(): leaf}), apply)
    return found


def _product(a: _Polynomial, b: _Polynomial) -> _Polynomial:
    found: _Polynomial = {}
    for (first, x), (second, y) in itertools.product(a.items(), b.items()):
        key = tuple(sorted(first + second))
        found[key] = found.get(key, 0) + x * y
    return found


def _divided(a: _Polynomial, divisor: int, wants_quotient: bool) -> _Polynomial:
    """The quotient or the remainder. Numbers below 0 are rounded in another way, so they are unknown."""
    constant = a.get((), 0)
    rest: Any = {key: value for key, value in a.items() if key}
    if divisor <= 0 or min(a.values(), default=0) < 0 or any(value % divisor for value in rest.values()):
        raise _Unknown
    if not wants_quotient:
        return {(): constant % divisor}
    return {(): constant // divisor, **{key: value // divisor for key, value in rest.items()}}
