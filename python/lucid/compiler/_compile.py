"""`lucid.compile`: a call is recorded once, then its plan runs instead."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from .. import _core
from ..nn import Module
from ._compiled import CacheInfo, Compiled
from ._module import JITModule
from ._passes import Pass

P = ParamSpec("P")
R = TypeVar("R")


class JITFunction(_core.CompiledCallable, Generic[P, R]):
    """A compiled function. What it returns is what the function would, bit for bit."""

    def __init__(
        self,
        function: Callable[P, R],
        max_cache_entries: int = 8,
        passes: Sequence[Pass | type[Pass]] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        name = getattr(function, "__name__", type(function).__name__)
        self._compiled = Compiled(self, function, name, max_cache_entries, passes)

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"JITFunction({self._compiled.name})"

    def invalidate_cache(self) -> None:
        """Forgets all plans; the next call is recorded again."""
        self._compiled.invalidate()

    def cache_info(self) -> CacheInfo:
        """How often plans were made and used."""
        return self._compiled.cache_info()

    def explain(self) -> str:
        """Plans, their sizes, and why calls were recorded again or run eagerly."""
        return self._compiled.explain()

    def graph(self, *args: P.args, **kwargs: P.kwargs) -> _core.IRGraph:
        """The graph of the plan that such a call runs; printing it shows its text."""
        return self._compiled.program(args, kwargs).graph


_Passes = Sequence[Pass | type[Pass]] | None


@overload
def compile(target: Module, *, max_cache_entries: int = 8, passes: _Passes = None) -> Any: ...
@overload
def compile(target: Callable[P, R], *, max_cache_entries: int = 8, passes: _Passes = None) -> JITFunction[P, R]: ...
@overload
def compile(
    target: None = None, *, max_cache_entries: int = 8, passes: _Passes = None
) -> Callable[[Callable[P, R]], JITFunction[P, R]]: ...
def compile(target: Any = None, *, max_cache_entries: int = 8, passes: _Passes = None) -> Any:
    """Makes a function or a module fast. Results, gradients, random numbers and state stay the same, bit for bit.

    Nothing happens before the first call, which runs as ever while it is recorded; a plan is made of it on another
    thread. Later calls with arguments of the same types wait for that plan if need be, and run it. What cannot be
    compiled runs as it is written, and `explain()` says why. At most `max_cache_entries` plans are kept; the oldest
    leaves first. Graphs go through `passes` in place of the standard ones: classes or objects derived from
    `lucid.compiler.Pass`.

    >>> @lucid.compile
    ... def f(x, y):
    ...     return (x * y + x).sum()
    >>> f(lucid.ones(3), lucid.ones(3)), f(lucid.ones(3), lucid.zeros(3))
    (tensor(6.), tensor(3.))
    >>> f.cache_info().hits
    1
    """
    if target is None:
        return functools.partial(compile, max_cache_entries=max_cache_entries, passes=passes)
    if isinstance(target, (JITFunction, JITModule)):
        return target
    if isinstance(target, Module):
        return JITModule(target, max_cache_entries, passes)
    if callable(target):
        return JITFunction(target, max_cache_entries, passes)
    raise TypeError(f"lucid.compile() expects an nn.Module or a callable, got {type(target)}")


jit = compile
