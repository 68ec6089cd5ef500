"""What arguments must look like for a plan to be used again, as python/capture/arguments.h reads it."""

from __future__ import annotations

import types
from typing import Any

import lucid

from ._kinds import ATOMS, derives
from ._walk import Walk, field_names

Description = tuple[Any, ...]

_ANY: Description = ("any",)


class Descriptions:
    """Descriptions of the arguments of one call."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._names = frozenset(walk.names)
        self._all_names = walk.knowledge.all_names
        self._numbers: dict[int, int] = {}

    def of(self, value: Any, inside: bool = False) -> Description:
        """`inside` says that it is an attribute of an argument. Other numbers and text are part of the plan's key."""
        cls = type(value)
        if cls in ATOMS:
            return ("value", value) if inside else _ANY
        if derives(cls, lucid.Tensor):
            return _ANY
        if cls in (list, tuple) or (derives(cls, tuple) and hasattr(cls, "_fields")):
            parts = tuple(self.of(item, inside) for item in value)
            # Where only the key's business is left, so is the container itself.
            if not inside and all(part is _ANY for part in parts):
                return _ANY
            return ("items", cls, parts)
        if cls is dict:
            parts = tuple(self.of(item, inside) for item in value.values())
            if not inside and all(part is _ANY for part in parts):
                return _ANY
            return ("entries", cls, tuple(value), parts)
        if id(value) in self._walk.arguments and id(value) not in self._walk.seen:
            return self._instance(value)
        return ("same", value)

    def _instance(self, value: Any) -> Description:
        if (number := self._numbers.get(id(value))) is not None:
            return ("again", number)
        number = self._numbers[id(value)] = len(self._numbers)
        instance = self._walk.arguments[id(value)]
        entries = instance.dict or {}
        keys = tuple(name for name in entries if self._all_names or name in self._names)
        parts = tuple(self.of(entries[name], True) for name in keys)
        members = [member for name, member in instance.members.items() if self._all_names or name in self._names]
        slots = []
        for member in members:
            try:
                slots.append(self.of(member.__get__(value), True))
            except AttributeError:
                slots.append(("missing",))
        names = None if self._all_names else self._names
        return ("instance", number, type(value), names, keys, parts, tuple(members), tuple(slots))


class Contents:
    """The lists, dicts and dataclasses among the arguments, to see whether a call changes them."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> None:
        self._before: list[tuple[Any, list[Any], str]] = []
        for name, value in zip(names, (*args, *kwargs.values())):
            self._add(value, name)

    def _add(self, value: Any, place: str) -> None:
        if type(value) in (list, tuple):
            items = list(value)
            if type(value) is list:
                self._before.append((value, items, place))
            for number, item in enumerate(items):
                self._add(item, f"{place}[{number}]")
        elif type(value) is dict:
            self._before.append((value, _parts(value), place))
            for key, item in value.items():
                self._add(item, f"{place}[{key!r}]" if type(key) in ATOMS else f"{place}[...]")
        elif names := field_names(type(value)):
            self._before.append((value, _parts(value), place))
            for name, item in zip(names, _parts(value)):
                self._add(item, f"{place}.{name}")

    def objects(self) -> list[int]:
        """By identity."""
        return [id(value) for value, _, _ in self._before]

    def changed(self) -> str | None:
        """The place of one that is not as it was."""
        for value, before, place in self._before:
            now = _parts(value)
            if len(now) != len(before) or any(a is not b for a, b in zip(now, before)):
                return place
        return None


def _parts(value: Any) -> list[Any]:
    if type(value) is list:
        return list(value)
    if type(value) is dict:
        return [part for entry in value.items() for part in entry]
    return [getattr(value, name, None) for name in field_names(type(value))]


def parameter_names(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """What the function calls each of the arguments."""
    skipped = 0
    while type(function) in (types.MethodType,):
        function, skipped = function.__func__, skipped + 1
    code = getattr(function, "__code__", None)
    known: tuple[str, ...] = code.co_varnames[skipped : code.co_argcount] if isinstance(code, types.CodeType) else ()
    positional = [known[i] if i < len(known) else f"argument {i}" for i in range(len(args))]
    return [*positional, *kwargs]
