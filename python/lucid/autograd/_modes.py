"""Gradient modes: context managers and decorators that enable and disable gradient recording."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .. import _core, _effects

_effects.pure_module()

_F = TypeVar("_F", bound=Callable[..., Any])
_IS_GENERATOR = 0x20  # inspect.CO_GENERATOR; importing inspect would take longer than importing this package


class _Mode:
    """Sets a mode in a `with` block. As a decorator, sets it during each call of the function."""

    def __init__(self) -> None:
        self._saved: list[tuple[bool, bool]] = []

    def _wanted(self) -> tuple[bool, bool]:
        """Returns the mode to set: (gradients enabled, inference mode enabled)."""
        raise NotImplementedError

    def _fresh(self) -> _Mode:
        """Returns a new instance, for one call of a decorated function."""
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
    """Sets the mode while the generator runs, but not while its consumer does."""

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
                except BaseException as error:  # thrown by the consumer: forward it to the generator
                    resume = functools.partial(generator.throw, error)
        finally:
            generator.close()

    return wrapper


class _PlainMode(_Mode):
    """A mode without arguments. It also works as a decorator without parentheses."""

    def __new__(cls, function: _F | None = None) -> Any:
        mode = super().__new__(cls)
        if function is None:
            return mode
        mode.__init__()  # type: ignore[misc]
        return mode(function)

    def __init__(self, function: None = None) -> None:
        super().__init__()


class no_grad(_PlainMode):
    """Disables gradient recording: ops inside save nothing for backward. A context manager and a decorator.

    >>> x = lucid.ones(2, requires_grad=True)
    >>> with lucid.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def _wanted(self) -> tuple[bool, bool]:
        return False, _core.is_inference_mode_enabled()


class enable_grad(_PlainMode):
    """Enables gradient recording, also inside no_grad. A context manager and a decorator."""

    def _wanted(self) -> tuple[bool, bool]:
        return True, False


class inference_mode(_Mode):
    """Like no_grad, for results that are never differentiated later. A context manager and a decorator.

    `mode=False` disables inference mode.
    """

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
    """Enables or disables gradient recording.

    As a function, takes effect immediately. As a context manager, restores the previous mode at the end of the block.
    """

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
        _core.set_grad_mode(*self._before)  # a decorator must not change the mode until its function is called
        return super().__call__(function)


def is_grad_enabled() -> bool:
    """Returns whether gradient recording is enabled."""
    return _core.is_grad_enabled()


grad_enabled = is_grad_enabled


def is_inference_mode_enabled() -> bool:
    """Returns whether inference mode is enabled."""
    return _core.is_inference_mode_enabled()
