"""Escape analysis: where a float that code has read from a tensor may go, and what code compares it with."""

from __future__ import annotations

import builtins
import logging
import math
import types
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from .. import _core
from ._effect import Effect
from ._type_tables import mro_of

# The default implementations of attribute lookup.
_GETTERS: tuple[Any, ...] = tuple(
    _core.class_dict(cls)["__getattribute__"] for cls in (object, types.ModuleType, _core.Module)
)
# Methods of loggers.
_LOGGING = {"debug", "info", "warning", "error", "critical", "log"}
# Up to here every integer is a float.
_MAX_EXACT = 2**53


class Used(Exception):
    """The value is used, or what happens to it is not known."""


def variable_in(frame: FrameType, source: str, name: str) -> Any:
    """What a "local" or "global" variable of a frame holds; None if it has none."""
    if source == "local":
        return frame.f_locals.get(name)
    return frame.f_globals.get(name, vars(builtins).get(name))


@dataclass(frozen=True)
class Comparison:
    """A comparison of a value with a number: the op, and where code reads the number."""

    op: str
    # "constant", "local" (which includes variables of functions around it), "global", or "math", which has no number.
    source: str
    name: Any = None
    # The attributes that lead from there to the number.
    attributes: tuple[str, ...] = ()

    def number(self, frame: FrameType) -> tuple[Any, ...]:
        """The number that a frame compares the value with, if any. Raises Used if it is not known."""
        if self.source == "math":
            if frame.f_globals.get("math") is not math:
                raise Used
            return ()
        value = self.name if self.source == "constant" else variable_in(frame, self.source, self.name)
        for name in self.attributes:
            value = _plain_attribute(value, name)
        if type(value) is not float and not (type(value) is int and abs(value) <= _MAX_EXACT):
            raise Used
        return (value,)


def _plain_attribute(value: Any, name: str) -> Any:
    """An attribute that is an entry of the object's own dict; None if reading it might run code."""
    classes = [_core.class_dict(base) for base in mro_of(type(value))]
    getter = next(entries["__getattribute__"] for entries in classes if "__getattribute__" in entries)
    if getter not in _GETTERS or any(name in entries for entries in classes):
        return None
    attributes = _core.attributes_of(value)
    return attributes.get(name) if attributes is not None and _core.has_only_names(attributes) else None


@dataclass(frozen=True)
class Pass:
    """A call that the value is passed to, or a text that shows it."""

    # The offset of the instruction.
    offset: int
    # What is called: a variable as in Comparison, and attributes of it.
    source: str
    name: str
    attributes: tuple[str, ...]
    # How the text shows it; None if the value itself is passed.
    specification: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether the callee stays the same function from the read of the value to the call, unless the call writes
        Python state."""
        is_print = self.source == "global" and self.name == "print" and not self.attributes
        return is_print or (bool(self.attributes) and self.attributes[-1] in _LOGGING)

    def is_repeated(self, frame: FrameType) -> bool:
        """Whether a plan can repeat the call: it prints, logs, or calls a function that is marked with `effect`."""
        value = variable_in(frame, self.source, self.name)
        if not self.attributes:
            return value is print or type(value) is Effect
        for name in self.attributes[:-1]:
            value = _plain_attribute(value, name)
        method = self.attributes[-1]
        if type(value) in (logging.Logger, logging.RootLogger):
            return method in _LOGGING and method not in vars(value)
        found = next((vars(base)[method] for base in mro_of(type(value)) if method in vars(base)), None)
        if found is None or type(found) is Effect:
            found = (_core.attributes_of(value) or {}).get(method, found)
        return type(found) is Effect


@dataclass(frozen=True)
class Escapes:
    """The ways in which a value escapes, and the comparisons with it."""

    is_returned: bool = False
    # The names of attributes and globals that it is stored in, and of lists that it is appended to.
    names: frozenset[str] = frozenset()
    comparisons: tuple[Comparison, ...] = ()
    passes: frozenset[Pass] = frozenset()

    def __or__(self, other: Escapes) -> Escapes:
        comparisons = dict.fromkeys(self.comparisons + other.comparisons)
        is_returned, names = self.is_returned or other.is_returned, self.names | other.names
        return Escapes(is_returned, names, tuple(comparisons), self.passes | other.passes)

    def shown(self, specification: str) -> Escapes:
        """The escapes of a value, given those of a text that shows it. Raises Used unless the text is only passed to a
        call."""
        if self.is_returned or self.names or self.comparisons or any(each.specification for each in self.passes):
            raise Used
        return Escapes(passes=frozenset(replace(each, specification=specification) for each in self.passes))
