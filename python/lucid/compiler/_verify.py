"""Comparing what a plan gives with what the function gives: `lucid.compile(f, verify=n)`."""

from __future__ import annotations

from typing import Any

from .. import _core
from ._type_tables import derives


def difference(compiled: Any, eager: Any, path: str) -> str | None:
    """Says where two results differ in a tensor, a number or another value; None if they do not. Objects of other
    classes are compared by their attributes."""
    if derives(type(compiled), _core.Tensor):
        return _of_tensors(compiled, eager, path)
    if type(compiled) is not type(eager):
        return f"{path}: a {type(compiled).__name__} instead of a {type(eager).__name__}"
    if type(compiled) in (int, float, bool, str, type(None)):
        # A NaN equals itself, and 0.0 is not -0.0.
        return None if repr(compiled) == repr(eager) else f"{path}: {compiled!r} instead of {eager!r}"
    if derives(type(compiled), dict):
        return _of_items(dict.items(compiled), dict.items(eager), path)
    if derives(type(compiled), list, tuple):
        return _of_items(enumerate(compiled), enumerate(eager), path)
    if attributes := _core.attributes_of(compiled):
        return _of_items(attributes.items(), (_core.attributes_of(eager) or {}).items(), path)
    return None


def _of_items(compiled: Any, eager: Any, path: str) -> str | None:
    left, right = list(compiled), list(eager)
    if [key for key, _ in left] != [key for key, _ in right]:
        return f"the items of {path}: {len(left)} instead of {len(right)}, or others"
    differences = (difference(a, b, f"{path}[{key!r}]") for (key, a), (_, b) in zip(left, right))
    return next((text for text in differences if text is not None), None)


def _of_tensors(compiled: _core.Tensor, eager: Any, path: str) -> str | None:
    if not derives(type(eager), _core.Tensor):
        return f"{path}: a tensor instead of a {type(eager).__name__}"
    if compiled.dtype != eager.dtype or compiled.shape != eager.shape:
        return f"{path}: {compiled.dtype} {compiled.shape} instead of {eager.dtype} {eager.shape}"
    index = _core.first_difference(compiled, eager)
    if index is None:
        return None
    wrong, right = (tensor.detach().reshape(-1)[index].item() for tensor in (compiled, eager))
    return f"element {index} of {path}: {wrong!r} instead of {right!r}"
