"""Descriptions of arguments, which later arguments must match for a plan to be used; python/capture/arguments.h checks
them."""

from __future__ import annotations

import functools
import types
from typing import Any

import lucid

from .. import _core
from ..nn.parameter import Parameter
from ._members import EMPTY, Instance, entries_of, field_names, field_value, is_container, iterate, parts_of_function
from ._type_tables import ATOMS, derives, is_number, item_of, printable
from ._walk_result import WalkResult

Description = tuple[Any, ...]

_ANY: Description = ("any",)
# Attributes of functions that descriptions leave out, except the names.
_OF_FUNCTIONS = frozenset(
    ("__annotations__", "__builtins__", "__closure__", "__code__", "__defaults__", "__dict__", "__doc__", "__globals__")
) | {"__kwdefaults__", "__module__", "__type_params__"}


class Descriptions:
    """Descriptions of the arguments of one call."""

    def __init__(self, found: WalkResult, all_names: bool) -> None:
        self._found = found
        self._names = found.state.names
        self._all_names = all_names
        self._compares_identity = found.state.compares_identity
        self._numbers: dict[int, int] = {}
        # The tensors that are described: those in attributes and items of objects.
        self.tensors: list[lucid.Tensor] = []

    def of(self, value: Any, inside: bool = False) -> Description:
        """Describes a value. `inside` is true for attributes of an argument. Other numbers and strings are part of the
        plan's key."""
        cls = type(value)
        if cls in ATOMS:
            if _is_nan(value) or (self._compares_identity and _may_be_copied(value)):
                return ("same", value)
            return ("value", value) if inside else _ANY
        if inside and (cls is lucid.Tensor or cls is Parameter):
            self.tensors.append(value)
            return ("tensor", value)
        if derives(cls, lucid.Tensor):
            # The class is part of the key, and so is whether there are attributes.
            return self._instance(value) if id(value) in self._found.arguments else _ANY
        if cls is slice and all(type(part) in ATOMS for part in (value.start, value.stop, value.step)):
            return ("same" if self._compares_identity else "value", value)
        if is_number(cls):
            return ("same" if self._compares_identity or _is_nan(value) else "bytes", value)
        is_known = id(value) in self._found.state.objects
        if is_container(cls) or cls is set or cls is frozenset:
            return ("same", value) if is_known else self._container(value, inside)
        if cls is types.MethodType:
            return ("value", value)
        if (
            is_known
            or id(value) not in self._found.arguments
            or any(type(key) not in ATOMS for key, _ in entries_of(value))
        ):
            return ("same", value)
        if (known := self._numbers.get(id(value))) is not None:
            return ("again", known)
        if cls is types.FunctionType:
            return self._function(value)
        return self._partial(value) if cls is functools.partial else self._instance(value)

    def _container(self, value: Any, inside: bool) -> Description:
        cls = type(value)
        # Only `is` can tell one tuple from two equal ones.
        is_numbered = cls is list or cls is dict or cls is set or (self._compares_identity and len(value) > 0)
        number = self._numbers.get(id(value))
        if number is not None:
            return ("again", number)
        if is_numbered:
            number = self._numbers[id(value)] = len(self._numbers)
        items = value.values() if cls is dict else iterate(value)
        # The key does not contain the items of sets.
        inside = inside or cls is set or cls is frozenset
        parts = tuple(self.of(item, inside) for item in items)
        # The key compares a container if it compares all its parts. It does not if the call reaches such containers
        # without its arguments: a later call may pass one of those.
        is_keyed = not inside and not self._found.arguments and cls not in self._found.state.containers
        if cls is dict:
            is_keyed = is_keyed and all(type(key) in ATOMS and not _is_nan(key) for key in value)
        if is_keyed and all(part is _ANY for part in parts):
            self._numbers.pop(id(value), None)
            return _ANY
        if cls is dict:
            return ("entries", number, cls, tuple(value), parts)
        return ("items", number, cls, parts)

    def _new_number(self, value: Any) -> int:
        return self._numbers.setdefault(id(value), len(self._numbers))

    def _instance(self, value: Any) -> Description:
        if (known := self._numbers.get(id(value))) is not None:
            return ("again", known)
        number = self._new_number(value)
        instance = self._found.arguments[id(value)]
        entries = instance.dict or {}
        everything = self._all_names or instance.whole
        read = [
            (name, part) for name, part in entries.items() if everything or (type(name) is str and name in self._names)
        ]
        keys = tuple(name for name, _ in read)
        parts = tuple(self._attribute(instance, name, part) for name, part in read)
        members = [(name, member) for name, member in instance.members if everything or name in self._names]
        slots = []
        for name, member in members:
            try:
                slots.append(self._attribute(instance, name, member.__get__(value)))
            except AttributeError:
                slots.append(("missing",))
        names = None if everything else self._names
        contents = None
        if derives(type(value), dict):
            items = entries_of(value)
            described = tuple(self.of(item, True) for _, item in items)
            contents = ("entries", None, type(value), tuple(key for key, _ in items), described)
        return (
            "instance",
            number,
            type(value),
            names,
            keys,
            parts,
            tuple(member for _, member in members),
            tuple(slots),
            contents,
        )

    def _function(self, value: Any) -> Description:
        if self._all_names or not self._names.isdisjoint(_OF_FUNCTIONS):
            return ("same", value)
        number = self._new_number(value)
        parts = tuple(("missing",) if part is EMPTY else self.of(part, True) for _, part in parts_of_function(value))
        return ("function", number, value.__code__, value.__globals__, (value.__name__, value.__qualname__), parts)

    def _partial(self, value: Any) -> Description:
        number = self._new_number(value)
        parts = tuple(self.of(part, True) for part in (value.func, value.args, value.keywords))
        return ("partial", number, type(value), parts)

    def _attribute(self, instance: Instance, name: Any, value: Any) -> Description:
        # The key contains the tensors in fields of dataclasses.
        is_in_key = name in instance.fields and derives(type(value), lucid.Tensor)
        return self.of(value, not is_in_key)


def _is_nan(value: Any) -> bool:
    """Whether a number is NaN, which containers find by identity."""
    return bool(value != value)


def _may_be_copied(value: Any) -> bool:
    """Whether an equal number or text may be another object."""
    if type(value) is int:
        return not -5 <= value <= 256
    return type(value) in (float, complex, str, bytes) and value not in ("", b"")


class Contents:
    """The lists, dicts, dataclasses and tensors with attributes among the arguments, to detect whether a call changes
    them."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> None:
        self._before: list[tuple[Any, list[Any], str]] = []
        for name, value in zip(names, (*args, *kwargs.values())):
            self._add(value, name)

    def _add(self, value: Any, source: str) -> None:
        if type(value) is list or derives(type(value), tuple):
            items = list(value) if type(value) is list else list(tuple.__iter__(value))
            self._before.append((value, items, source))
            for number, item in enumerate(items):
                self._add(item, f"{source}[{number}]")
        elif type(value) is dict:
            self._before.append((value, _parts(value), source))
            for key, item in value.items():
                self._add(item, item_of(source, key))
        elif derives(type(value), lucid.Tensor):
            if type(value) is not lucid.Tensor:
                self._before.append((value, _parts(value), f"an attribute of {source}"))
        elif names := field_names(type(value)):
            self._before.append((value, _parts(value), source))
            for name, item in zip(names, _parts(value)):
                self._add(item, f"{source}.{name}")

    def changed(self) -> str | None:
        """The source of a container that has changed; None if none has."""
        for value, before, source in self._before:
            now = _parts(value)
            if len(now) != len(before) or any(a is not b for a, b in zip(now, before)):
                return source
        return None


def _parts(value: Any) -> list[Any]:
    if type(value) is list:
        return list(value)
    if derives(type(value), tuple):
        return list(tuple.__iter__(value))
    if type(value) is dict:
        return [part for entry in value.items() for part in entry]
    if derives(type(value), lucid.Tensor):
        return [part for entry in (_core.attributes_of(value) or {}).items() for part in entry]
    return [field_value(value, name) for name in field_names(type(value))]


def parameter_names(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """The name of the parameter of each argument."""
    skipped = 0
    while type(function) is types.MethodType:
        function, skipped = function.__func__, skipped + 1
    code = function.__code__ if type(function) is types.FunctionType else None
    known: tuple[str, ...] = code.co_varnames[skipped : code.co_argcount] if code is not None else ()
    positional = [known[i] if i < len(known) else f"argument {i}" for i in range(len(args))]
    return [*positional, *map(printable, kwargs)]
