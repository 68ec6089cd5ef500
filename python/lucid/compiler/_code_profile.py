"""The code profile of a function: the code that its recorded calls ran."""

from __future__ import annotations

import types
import weakref
from types import CodeType, FunctionType
from typing import Any


class NewFunction:
    """A function that ran although no walk found it. It may be gone later; its code stays."""

    def __init__(self, function: FunctionType) -> None:
        self._reference = weakref.ref(function)
        code = function.__code__
        cells = tuple(types.CellType() for _ in code.co_freevars)
        self._without_state = FunctionType(code, function.__globals__, function.__name__, None, cells or None)

    def get(self) -> FunctionType:
        """The function or, if it is gone, one with its code that holds nothing."""
        return self._reference() or self._without_state


class CodeProfile:
    """What earlier recordings of one function have found: the code that ran, and whether it looks names up that do not
    occur in it."""

    def __init__(self) -> None:
        self.ran: set[CodeType] = set()
        self.functions: dict[CodeType, list[NewFunction]] = {}
        # Whether the walk is restricted to code that has run before.
        self.only_ran_code = False
        self.all_names = False
        self.runs_backward = False
        # Globals of Lucid's own code that ran: dicts by id, and names.
        self.own_globals: dict[int, tuple[dict[str, Any], set[str]]] = {}

    def size(self) -> tuple[int, ...]:
        """Changes whenever something is added."""
        functions = sum(map(len, self.functions.values()))
        names = sum(len(names) for _, names in self.own_globals.values())
        return len(self.ran), functions, names, self.only_ran_code, self.all_names, self.runs_backward

    def forget_other_code(self, reflects: bool) -> None:
        """Restricts later walks to code that has run. `reflects`: it looks names up that do not occur in it."""
        if not self.only_ran_code:
            self.only_ran_code, self.all_names = True, reflects
