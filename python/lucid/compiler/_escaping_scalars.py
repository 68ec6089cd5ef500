"""Scalars from `item()` that are only compared or forwarded: returned, appended to a list, kept in an attribute,
printed, or passed to a function with effects. Guards compare the outcomes of the comparisons, not the values.

Escape analysis of the instructions decides this: it follows the object that `item()` returned until an instruction
compares or forwards it. Anything else that code does with it is a use.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from ._instructions import GENERATOR, Site, escapes_of


class EscapingScalars:
    """The floats that one call has read. Each has a tensor that holds it, the code that read it, the offset of the
    instruction, and whether this is the outermost frame of the call."""

    def __init__(self, floats: list[tuple[float, Any, CodeType, int, bool]]) -> None:
        self._floats = floats
        self.values = [value for value, *_ in floats]
        # The tensors, by id of the float.
        self.copies = {id(value): copy for value, copy, *_ in floats}
        # By id: the names under which the call stores it.
        self._names: dict[int, frozenset[str]] = {}
        self._escaped: set[int] = set()
        # Floats in texts: the specification, and the call that gets the text.
        self.texts: list[tuple[float, str, Site]] = []

    def are_forwarded(
        self, root: CodeType | None, unread: frozenset[str], repeated: list[Site], printing: set[Site]
    ) -> bool:
        """Whether the call only forwards them. It may return them from `root`, the code of the function itself, store
        them under the names `unread`, and pass them to calls that plans repeat, at the sites `repeated`. Calls at
        `printing` get them as texts."""
        reads = [(code, offset) for _, _, code, offset, _ in self._floats]
        for value, _, code, offset, is_root in self._floats:
            escapes = escapes_of(code, offset)
            may_return = is_root and code is root and not code.co_flags & GENERATOR
            if escapes is None or not escapes.names <= unread or (escapes.is_returned and not may_return):
                return False
            is_passed = False
            for each in escapes.passes:
                where = (code, each.offset)
                count = repeated.count(where)
                if count == 0 and each.is_known:
                    continue  # It was not called, or a logger whose level is higher.
                specification = "" if each.specification is None and where in printing else each.specification
                # If an instruction runs twice, nothing tells which text shows which value.
                if count == 0 or (specification is not None and (count > 1 or reads.count((code, offset)) > 1)):
                    return False
                is_passed = True
                if specification is not None:
                    self.texts.append((value, specification, where))
            self._names[id(value)] = escapes.names
            if escapes.is_returned or escapes.names or is_passed:
                self._escaped.add(id(value))
        return True

    def may_be_in(self, value: Any, name: str) -> bool:
        """Whether an object is one of the floats, and the code that read it stores it under this name. Other code might
        have looked at it first."""
        return name in self._names.get(id(value), ())

    def are_found(self, found: set[int]) -> bool:
        """Whether these ids include all floats that the call has forwarded."""
        return self._escaped <= found
