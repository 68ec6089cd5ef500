"""Side effects of the package's own code, declared where the code is defined.

A compiled call runs a plan instead of the Python code that was recorded. That is correct for pure code: code that reads
and changes only tensors, which recordings see, and values that guards compare. Code of the package counts as pure only
if it is declared so, by `pure_module()` or `@pure`. A call that runs other code of the package runs eagerly. Code with
known side effects names them for messages.
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
_backward: set[CodeType] = set()


def pure_module() -> None:
    """Declares the code of the calling module pure, except for functions marked with `effect`."""
    _pure_files.add(sys._getframe(1).f_code.co_filename)


def module_effect(words: str) -> None:
    """Declares the side effect of all code in the calling module. `words` completes "which ..."."""
    _effects_of_files[sys._getframe(1).f_code.co_filename] = words


def pure(marked: _Code) -> _Code:
    """Declares a function, or all functions that a class defines, pure."""
    _pure.update(_codes_of(marked))
    return marked


def effect(words: str) -> Callable[[_Code], _Code]:
    """Declares the side effect of a function, or of all functions that a class defines.

    `words` completes "which ...".
    """

    def mark(marked: _Code) -> _Code:
        for code in _codes_of(marked):
            _effects[code] = words
        return marked

    return mark


def _codes_of(marked: Any) -> list[CodeType]:
    """Returns the code objects of a function, or of all functions of a class, including nested code."""
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
    """Returns the side effect that `effect` declared for a function's code."""
    return _effects.get(code)


def effect_of(code: CodeType) -> str | None:
    """Returns the side effect of code of the package, or None if it is pure."""
    if (words := _effects.get(code)) is not None:
        return words
    if code in _pure or code.co_filename in _pure_files:
        return None
    return _effects_of_files.get(code.co_filename, "is not declared pure")


def backward(marked: _Code) -> _Code:
    """Declares that a function runs a backward pass, and so the hooks that are registered for it."""
    _backward.update(_codes_of(marked))
    return marked


def runs_backward(code: CodeType) -> bool:
    """Whether `backward` marks a function's code."""
    return code in _backward
