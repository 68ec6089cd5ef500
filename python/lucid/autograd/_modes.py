"""Switching the recording of gradients on and off."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .. import _core, _effects

_effects.pure_module()

_F = TypeVar("_F", bound=Callable[..., Any])
_IS_GENERATOR = 0x20  # inspect.CO_GENERATOR; importing inspect would take longer than all of this package


class _Mode:
    """Sets the mode between enter and exit; decorates functions, whose calls then run in it."""

    def __init__(self) -> None:
        self._saved: list[tuple[bool, bool]] = []

    def _wanted(self) -> tuple[bool, bool]:
        raise NotImplementedError

    def _fresh(self) -> _Mode:
        return type(self)()

    def __enter__(self) -> None:
        self._saved.append((_core.is_grad_enabled(), _core.is_inference_mode_enabled()))
        _core.set_grad_mode(*self._wanted())

    def __exit__(self, *exception: object) -> None:
        _core.set_grad_mode(*self._saved.pop())

    def __call__(self, function: _F) -> _F:
        fresh = self._fresh
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & _IS_GENERATOR:
            return cast("_F", _wrap_generator(function, fresh))

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with fresh():
                return function(*args, **kwargs)

        return cast("_F", wrapper)


def _wrap_generator(function: Any, fresh: Callable[[], _Mode]) -> Any:
    """The mode holds while the generator runs, and not while its consumer does."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume: Callable[[], Any] = functools.partial(next, generator)
        try:
            while True:
                try:
                    with fresh():
                        item = resume()
                except StopIteration as stop:
                    return stop.value
                try:
                    sent = yield item
                    resume = functools.partial(generator.send, sent)
                except GeneratorExit:
                    raise
                except BaseException as error:  # the consumer threw: the generator decides
                    resume = functools.partial(generator.throw, error)
        finally:
            generator.close()

    return wrapper


class _PlainMode(_Mode):
    """A mode without arguments: also decorates without parentheses."""

    def __new__(cls, function: _F | None = None) -> Any:
        mode = super().__new__(cls)
        if function is None:
            return mode
        mode.__init__()  # type: ignore[misc]
        return mode(function)

    def __init__(self, function: None = None) -> None:
        super().__init__()


class no_grad(_PlainMode):
    """Operations inside are not recorded, so they cost no memory for backward. A context manager and a decorator.

    >>> x = lucid.ones(2, requires_grad=True)
    >>> with lucid.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def _wanted(self) -> tuple[bool, bool]:
        return False, _core.is_inference_mode_enabled()


class enable_grad(_PlainMode):
    """Operations inside are recorded, also inside no_grad. A context manager and a decorator."""

    def _wanted(self) -> tuple[bool, bool]:
        return True, False


class inference_mode(_Mode):
    """no_grad for code whose results are never differentiated later. A context manager and a decorator."""

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        instance = super().__new__(cls)
        if callable(mode):
            instance.__init__()  # type: ignore[misc]
            return instance(mode)
        return instance

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self._mode = mode

    def _fresh(self) -> _Mode:
        return inference_mode(self._mode)

    def _wanted(self) -> tuple[bool, bool]:
        return (False, True) if self._mode else (True, False)


class set_grad_enabled(_Mode):
    """Switches recording on or off: at once when called, and back at the end of a `with` block."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self._mode = bool(mode)
        self._before = (_core.is_grad_enabled(), _core.is_inference_mode_enabled())
        _core.set_grad_mode(*self._wanted())

    def _fresh(self) -> _Mode:
        return set_grad_enabled(self._mode)

    def _wanted(self) -> tuple[bool, bool]:
        return self._mode, _core.is_inference_mode_enabled() and not self._mode

    def __enter__(self) -> None:
        self._saved.append(self._before)
        _core.set_grad_mode(*self._wanted())

    def __call__(self, function: _F) -> _F:
        _core.set_grad_mode(*self._before)  # a decorator switches nothing before its function is called
        return super().__call__(function)


def is_grad_enabled() -> bool:
    """Whether operations are recorded for gradients."""
    return _core.is_grad_enabled()


grad_enabled = is_grad_enabled


def is_inference_mode_enabled() -> bool:
    """Whether code runs inside inference_mode."""
    return _core.is_inference_mode_enabled()
