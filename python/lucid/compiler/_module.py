"""Compiled modules."""

from __future__ import annotations

import copy
import types
from collections.abc import Sequence
from typing import Any

from .. import _core, _effects
from ..nn import Module
from ._compiled import CacheInfo, Compiled
from ._passes import Pass

# Names of the wrapper itself; the wrapped module's come first.
_OWN = frozenset({"invalidate_cache", "cache_info", "explain", "graph", "compile"})
_SPECIAL = frozenset({"__class__", "__dict__", "__deepcopy__", "__reduce__", "__reduce_ex__"})


@_effects.pure
class JITModule(Module):
    """A compiled module. It is the module that it wraps, but for how calls run: attributes are read and written there,
    and methods that call the module run compiled."""

    _compiled: Compiled
    _wrapped: Module

    def __init__(
        self, module: Module, max_cache_entries: int = 8, passes: Sequence[Pass | type[Pass]] | None = None
    ) -> None:
        super().__init__()
        compiled = Compiled(_core.CompiledCallable(), module, type(module).__name__, max_cache_entries, passes)
        # Not as attributes: the wrapped module is no part of this one.
        own = object.__getattribute__(self, "__dict__")
        own["_wrapped"] = module
        own["_compiled"] = compiled

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled.table(*args, **kwargs)

    def __getattribute__(self, name: str) -> Any:
        get = object.__getattribute__
        if name in ("_compiled", "_wrapped") or (name.startswith("__") and name in _SPECIAL):
            return get(self, name)
        wrapped: Module | None = get(self, "__dict__").get("_wrapped")
        if wrapped is None:
            return get(self, name)
        if name in _OWN and not hasattr(wrapped, name):
            return get(self, name)
        if name in _OWN and getattr(type(wrapped), name, None) is getattr(Module, name, None):
            return get(self, name)
        value = getattr(wrapped, name)
        if type(value) is types.MethodType and value.__self__ is wrapped:
            return types.MethodType(value.__func__, self)
        if isinstance(value, (types.BuiltinMethodType, types.MethodWrapperType)) and value.__self__ is wrapped:
            return _answering(value, wrapped, self)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._wrapped, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._wrapped, name)

    def __repr__(self) -> str:
        return repr(self._wrapped)

    def __dir__(self) -> list[str]:
        return sorted({*dir(type(self)), *dir(self._wrapped)})

    def __getitem__(self, key: Any) -> Any:
        return _any(self._wrapped)[key]

    def __len__(self) -> int:
        return len(_any(self._wrapped))

    def __iter__(self) -> Any:
        return iter(_any(self._wrapped))

    def __contains__(self, item: Any) -> bool:
        return item in _any(self._wrapped)

    def __deepcopy__(self, memo: dict[int, Any]) -> JITModule:
        return JITModule(copy.deepcopy(self._wrapped, memo), self._compiled.max_cache_entries, self._compiled.passes)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return JITModule, (self._wrapped, self._compiled.max_cache_entries, self._compiled.passes)

    def compile(self, **kwargs: Any) -> JITModule:
        """Itself: it is compiled."""
        return self

    @_effects.effect("forgets plans")
    def invalidate_cache(self) -> None:
        """Forgets all plans; the next call is recorded again."""
        self._compiled.invalidate()

    @_effects.effect("reads the counters of plans")
    def cache_info(self) -> CacheInfo:
        """How often plans were made and used."""
        return self._compiled.cache_info()

    @_effects.effect("reads the counters of plans")
    def explain(self) -> str:
        """Plans, their sizes, and why calls were recorded again or run eagerly."""
        return self._compiled.explain()

    @_effects.effect("shows a plan")
    def graph(self, *args: Any, **kwargs: Any) -> _core.IRGraph:
        """The graph of the plan that such a call runs; printing it shows its text."""
        return self._compiled.program(args, kwargs).graph


_core.register_wrapper(JITModule)


@_effects.pure
def _any(module: Any) -> Any:
    """A module of which more is known than its class says."""
    return module


@_effects.pure
def _answering(method: Any, wrapped: Module, wrapper: JITModule) -> Any:
    """A method of the wrapped module that gives back the wrapper where it would give back itself."""

    def call(*args: Any, **kwargs: Any) -> Any:
        result = method(*args, **kwargs)
        return wrapper if result is wrapped else result

    call.__name__ = call.__qualname__ = method.__name__
    call.__doc__ = method.__doc__
    return call
