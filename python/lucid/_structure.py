"""How the result of an exported function holds its tensors: lists, tuples and dicts, as text in a program's file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _core, _effects

_effects.pure_module()

# A tensor. Other values are None, and objects with one member, whose name is their type.
_TENSOR = "tensor"
_INT64 = range(-(2**63), 2**63)


def _is_key(key: Any) -> bool:
    """Keys that a file may have: no others, because their hashes could be chosen to collide."""
    return isinstance(key, str) or key is None or (isinstance(key, int) and key in _INT64)


def structure_of(result: Any) -> Any:
    """The structure of a result, as a JSON value. Raises TypeError for what a file cannot express."""
    if isinstance(result, _core.Tensor):
        return _TENSOR
    if isinstance(result, Mapping):
        for key in result:
            if not _is_key(key):
                raise TypeError(
                    f"lucid.export: the function returns a dict with the key {key!r} of class {type(key).__name__}; "
                    "use strings or integers"
                )
        return {"dict": [[key, structure_of(value)] for key, value in result.items()]}
    if isinstance(result, list | tuple):
        name = "list" if isinstance(result, list) else "tuple"
        return {name: [structure_of(value) for value in result]}
    if result is None:
        return None
    raise TypeError(
        f"lucid.export: the function returns an object of class {type(result).__name__}; return tensors, or tensors in "
        "lists, tuples and dicts"
    )


def to_text(structure: Any) -> str:
    """The text of a structure; empty for a tensor, a tuple of other than one tensor, and for a result without any."""
    items = structure.get("tuple") if isinstance(structure, dict) else None
    is_tuple = items is not None and len(items) != 1 and all(item == _TENSOR for item in items)
    return "" if structure in (_TENSOR, None) or is_tuple else json.dumps(structure)


class Structure:
    """Puts results together. The text is from a file that need not be trusted."""

    def __init__(self, text: str, count: int) -> None:
        try:
            self._root = json.loads(text) if text else self._plain(count)
            if sum(1 for _ in self._tensors(self._root)) != count:
                raise ValueError("it has another number of tensors than the program")
        except (ValueError, RecursionError) as error:
            raise ValueError(f"load_program: the file is damaged: the structure of the result: {error}") from None

    @staticmethod
    def _plain(count: int) -> Any:
        return _TENSOR if count == 1 else {"tuple": [_TENSOR] * count}

    def _tensors(self, node: Any) -> Iterator[None]:
        """One item for each tensor, once it is known that the node is well formed."""
        if node == _TENSOR:
            yield None
        elif node is not None:
            if not isinstance(node, dict) or len(node) != 1:
                raise ValueError("a part has no type")
            ((name, items),) = node.items()
            if name not in ("list", "tuple", "dict") or not isinstance(items, list):
                raise ValueError("a part has an unknown type")
            if name == "dict":
                if not all(isinstance(item, list) and len(item) == 2 and _is_key(item[0]) for item in items):
                    raise ValueError("a dict is malformed")
                if len({key for key, _ in items}) != len(items):
                    raise ValueError("a dict has a key twice")
                items = [value for _, value in items]
            for item in items:
                yield from self._tensors(item)

    def build(self, tensors: Sequence[_core.Tensor]) -> Any:
        """The result with these tensors."""
        return self._build(self._root, iter(tensors))

    def _build(self, node: Any, tensors: Iterator[_core.Tensor]) -> Any:
        if node == _TENSOR:
            return next(tensors)
        if node is None:
            return None
        ((name, items),) = node.items()
        if name == "dict":
            return {key: self._build(value, tensors) for key, value in items}
        built = [self._build(item, tensors) for item in items]
        return built if name == "list" else tuple(built)
