"""Checks the objects that the gradient graphs of replayed calls share with the recorded one: hooks, and the attributes
of `ctx` in custom functions."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable
from typing import Any

import lucid

from ._code import named_by
from ._type_tables import ATOMS, IMMUTABLE, derives, is_enum, name_of, type_set
from ._walk_result import State

_METHODS = type_set(types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)
_CONTAINERS = type_set(list, dict, set)


class SharedObjects:
    """Decides whether replayed calls may share an object: a constant, or an object whose identity is guarded."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._seen: set[int] = set()

    def reason(self, objects: Iterable[tuple[str, Any]]) -> str | None:
        """Why another call cannot share all of these objects; None if it can."""
        for what, value in objects:
            if (why := self._differs(value)) is not None:
                return f"keeps {why} in {what}"
        return None

    def _differs(self, value: Any) -> str | None:
        cls = type(value)
        if derives(cls, lucid.Tensor):
            return None if id(value) in self._state.tensors else "a tensor of the call"
        if cls in ATOMS or cls in IMMUTABLE or is_enum(cls) or id(value) in self._state.objects:
            return None
        if id(value) in self._seen:
            return None
        self._seen.add(id(value))
        if cls is list or cls is tuple:
            return self._first(value)
        if cls is dict:
            return self._first([*value, *value.values()])
        if cls is functools.partial:
            return self._first([value.func, *value.args, *value.keywords.values()])
        if cls in _METHODS:
            owner = value.__self__
            # A method of a container would modify the container of the recorded call.
            if type(owner) in _CONTAINERS and id(owner) not in self._state.objects:
                return f"a method of a {name_of(type(owner))} that the call created"
            return self._first([owner, getattr(value, "__func__", None)])
        if cls is types.FunctionType:
            return self._function(value)
        return f"a {name_of(cls)} that the call created or was passed"

    def _first(self, values: Iterable[Any]) -> str | None:
        return next((why for value in values if (why := self._differs(value)) is not None), None)

    def _function(self, function: types.FunctionType) -> str | None:
        cells = function.__closure__ or ()
        written = named_by(function.__code__).writes
        contents = []
        for name, cell in zip(function.__code__.co_freevars, cells):
            if name in written and id(cell) not in self._state.objects:
                return f"the variable {name} of the call, which it changes,"
            # None if the variable is not set yet.
            value = getattr(cell, "cell_contents", None)
            if type(value) in _CONTAINERS and id(value) not in self._state.objects:
                return f"the {name_of(type(value))} {name} of the call"
            contents.append(value)
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        return self._first([*contents, *defaults, *vars(function).values()])
