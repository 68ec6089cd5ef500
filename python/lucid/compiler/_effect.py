"""Functions whose calls a plan repeats."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

from .. import _core, _effects
from ._type_tables import derives

_effects.pure_module()


class Effect:
    """A function that is marked with `effect`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)

    def __call__(self, /, *args: Any, **kwargs: Any) -> None:
        log = _core.call_log()
        if log is None:
            function: Any = self.__wrapped__  # type: ignore[attr-defined]
            function(*copied(args), **copied(kwargs))
        else:
            log.perform(self, args, kwargs, sys._getframe(1))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"lucid.compiler.effect({self.__wrapped__!r})"  # type: ignore[attr-defined]


def copied(value: Any) -> Any:
    """A value with copies of the tensors in it."""
    if derives(type(value), _core.Tensor):
        return value.detach().clone()
    if type(value) is list or type(value) is tuple:
        return type(value)(map(copied, value))
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    return value


def effect(function: Callable[..., Any]) -> Effect:
    """Marks a function that has effects: it writes to files, to a log, to lists of its own, or the like. Compiled calls
    repeat its calls, in order, after the plan has run.

    The function gets detached copies of the tensors among its arguments, also in eager calls, and returns None. It must
    not change tensors or objects that the compiled function uses. If it raises, the compiled call raises. A call that
    changes tensors or other state after an effect runs eagerly.

    >>> history = []
    >>> @lucid.compiler.effect
    ... def log(step, loss):
    ...     history.append((step, loss.item()))
    >>> @lucid.compile
    ... def f(x):
    ...     y = x * x
    ...     log(1, y.sum())
    ...     return y
    >>> for _ in range(3):
    ...     y = f(lucid.ones(2))
    >>> history
    [(1, 2.0), (1, 2.0), (1, 2.0)]
    """
    if not callable(function):
        raise TypeError(f"lucid.compiler.effect(): expected a function, got {type(function).__name__}")
    return Effect(function)


# Walks do not visit what it holds: what the function does is not part of the recording.
_core.pure.add(Effect)
