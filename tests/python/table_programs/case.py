"""What a program is, and the tables that programs are entered in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import lucid

ROOT = Path(__file__).resolve().parents[3]
X = lucid.tensor([1.0, 2.0, 3.0])


class Box:
    pass


class Case(NamedTuple):
    function: Callable
    # Changes what the function reads: its result must be another one.
    change: Callable
    # For what cannot be guarded: part of the reason why calls run eagerly.
    reason: str | None = None


def check(case: Case) -> None:
    compiled = lucid.compile(case.function)
    before = case.function(X).tolist()
    for _ in range(4):
        assert compiled(X).tolist() == before
    explained = compiled.explain()
    if case.reason is None:
        assert compiled.cache_info().hits > 0, explained
    else:
        assert compiled.cache_info().hits == 0
        assert case.reason in explained
    case.change()
    after = case.function(X).tolist()
    assert after != before, "the program does not show the change"
    for _ in range(3):
        assert compiled(X).tolist() == after


def replaced(first: Any, second: Any, read: Callable, reason: str | None = None) -> Case:
    """A program that reads an object, which is then replaced by another one."""
    box = Box()
    box.value = first
    return Case(lambda x: x * read(box.value), lambda: setattr(box, "value", second), reason)


# Types with a rule.

RULES: dict[type, list[Callable[[], Case]]] = {}


def rule(*types: type) -> Callable:
    def register(make: Callable[[], Case]) -> Callable[[], Case]:
        for cls in types:
            RULES.setdefault(cls, []).append(make)
        return make

    return register


FAMILIES: dict[str, list[Callable[[], Case]]] = {}


def family(name: str) -> Callable:
    def register(make: Callable[[], Case]) -> Callable[[], Case]:
        FAMILIES.setdefault(name, []).append(make)
        return make

    return register
