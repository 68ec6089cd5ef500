"""Effects of the package's own code, declared where the code is.

A compiled call runs a plan instead of the code that it was made from. That is right for code that is pure: what it
reads or changes are tensors, which recordings see, or values that guards compare. Code of the package counts as pure
only if it says so, by `pure_module()` or `@pure`; a call that runs other code of the package runs eagerly. Code that
is known to have effects names them, for messages.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

_Code = TypeVar("_Code", bound=Callable[..., Any])

_pure_files: set[str] = set()
_pure: set[CodeType] = set()
_effects_of_files: dict[str, str] = {}
_effects: dict[CodeType, str] = {}


def pure_module() -> None:
    """Declares the code of the calling module pure, except for functions marked with `effect`."""
    _pure_files.add(sys._getframe(1).f_code.co_filename)


def module_effect(words: str) -> None:
    """Says what the code of the calling module does, as the end of "which ..."."""
    _effects_of_files[sys._getframe(1).f_code.co_filename] = words


def pure(marked: _Code) -> _Code:
    """Declares a function, or all functions that a class defines, pure."""
    _pure.update(_codes_of(marked))
    return marked


def effect(words: str) -> Callable[[_Code], _Code]:
    """Says what a function, or each function that a class defines, does, as the end of "which ..."."""

    def mark(marked: _Code) -> _Code:
        for code in _codes_of(marked):
            _effects[code] = words
        return marked

    return mark


def _codes_of(marked: Any) -> list[CodeType]:
    """The code of a function or of what a class defines, and the code inside it."""
    codes: list[CodeType] = []
    found = list(vars(marked).values()) if isinstance(marked, type) else [marked]
    while found:
        value = found.pop()
        if isinstance(value, property):
            found += [value.fget, value.fset, value.fdel]
        elif isinstance(value, staticmethod | classmethod):
            found.append(value.__func__)
        elif isinstance(value, types.FunctionType):
            found.append(value.__code__)
        elif isinstance(value, CodeType):
            codes.append(value)
            found += value.co_consts
    return codes


def declared_effect(code: CodeType) -> str | None:
    """What `effect` says of a function's code."""
    return _effects.get(code)


def effect_of(code: CodeType) -> str | None:
    """The effect of code of the package; None if it is pure."""
    if (words := _effects.get(code)) is not None:
        return words
    if code in _pure or code.co_filename in _pure_files:
        return None
    return _effects_of_files.get(code.co_filename, "is not declared pure")
