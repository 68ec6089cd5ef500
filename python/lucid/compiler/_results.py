"""How results are nested, so that a replayed call gives back new containers around new tensors."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Container, Iterator
from typing import Any

import lucid

Rebuild = Callable[[Iterator["lucid.Tensor"], dict[int, Any]], Any]

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), range, slice, lucid.dtype, enum.Enum)


class CannotRebuild(Exception):
    """Says which result a replayed call could not give back."""


def take_apart(result: Any, kept: Container[int]) -> tuple[list[lucid.Tensor], Callable[[list[lucid.Tensor]], Any]]:
    """The tensors in a result, and how to make such a result of others.

    Containers must be the call's own: those in `kept`, by identity, existed before.
    """
    tensors: list[lucid.Tensor] = []
    rebuild = _Parts(kept, tensors).of(result)

    def make(new: list[lucid.Tensor]) -> Any:
        return rebuild(iter(new), {})

    return tensors, make


class _Parts:
    """Takes one result apart."""

    def __init__(self, kept: Container[int], tensors: list[lucid.Tensor]) -> None:
        self.kept = kept
        self.tensors = tensors
        self.seen: dict[int, Rebuild] = {}

    def of(self, item: Any) -> Rebuild:
        kind = type(item)
        if isinstance(item, lucid.Tensor):
            self.tensors.append(item)
            return lambda new, made: next(new)
        if isinstance(item, _PLAIN):
            return lambda new, made: item
        number = id(item)
        if number in self.seen:
            return lambda new, made: made[number]
        if kind is not tuple and number in self.kept:
            raise CannotRebuild(f"returns a {kind.__name__} that existed before the call")

        is_ours = kind.__module__ == "lucid.return_types"
        if kind in (list, tuple) or is_ours or (issubclass(kind, tuple) and hasattr(kind, "_make")):
            parts = [self.of(part) for part in item]
            make = kind._make if hasattr(kind, "_make") else kind
            return self._remember(number, lambda new, made: make([part(new, made) for part in parts]))
        if kind is dict:
            names = list(item)
            if not all(isinstance(name, _PLAIN) for name in names):
                raise CannotRebuild("returns a dict whose keys are objects")
            values = [self.of(value) for value in item.values()]
            return self._remember(
                number, lambda new, made: {name: value(new, made) for name, value in zip(names, values)}
            )
        if dataclasses.is_dataclass(kind) and vars(item).keys() <= {field.name for field in dataclasses.fields(kind)}:
            fields = list(vars(item))
            values = [self.of(vars(item)[name]) for name in fields]

            def make_instance(new: Iterator[lucid.Tensor], made: dict[int, Any]) -> Any:
                instance = object.__new__(kind)
                for name, value in zip(fields, values):
                    object.__setattr__(instance, name, value(new, made))
                return instance

            return self._remember(number, make_instance)
        raise CannotRebuild(f"returns an object of class {kind.__qualname__}")

    def _remember(self, number: int, make: Rebuild) -> Rebuild:
        def remembering(new: Iterator[lucid.Tensor], made: dict[int, Any]) -> Any:
            made[number] = make(new, made)
            return made[number]

        self.seen[number] = remembering
        return remembering
